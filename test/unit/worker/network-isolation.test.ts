import { join } from 'node:path'
import t from 'tap'
import { checkIsolation, isolated } from '#worker/network-isolation.ts'

const namespaces = ['--net', '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc']
const by = { network: 'namespace', isRoot: process.getuid?.() === 0, hiddenFolder: '' } as const

t.test('root makes the namespaces without a user namespace, and keeps what it takes to become the user', async (t) => {
  const command = isolated(['node', 'x'], { ...by, isRoot: true, hiddenFolder: '/data' })
  t.strictSame(command.slice(3, 10), namespaces)
  t.notOk(command.includes('--user'))
  t.strictSame(command.slice(-4), ['/data', '-all,+setuid,+setgid,+dac_override', 'node', 'x'])
})

t.test('everybody else makes them in a user namespace, and keeps nothing', async (t) => {
  const command = isolated(['node', 'x'], { ...by, isRoot: false })
  for (const flag of ['--user', ...namespaces]) t.ok(command.includes(flag), flag)
  t.strictSame(command.slice(-4), ['', '-all', 'node', 'x'])
})

t.test('flags alone change nothing of the command', async (t) => {
  t.strictSame(isolated(['node'], { ...by, network: 'flags-only', hiddenFolder: '/data' }), ['node'])
})

t.test('a folder that cannot be hidden, or a namespace that cannot be made, is no isolation', async (t) => {
  checkIsolation(by)
  const missing = join(t.testdir(), 'missing')
  t.throws(() => checkIsolation({ ...by, hiddenFolder: missing }), {
    code: 'CONFIGURATION',
    message: /WORKER_NETWORK_ISOLATION.*missing/,
  })
})
