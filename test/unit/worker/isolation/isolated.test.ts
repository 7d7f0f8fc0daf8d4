import { join } from 'node:path'
import t from 'tap'
import { checkIsolation, isolated } from '#worker/isolation/isolated.ts'

const namespaces = ['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent']
const chromium = '/usr/lib/chromium/chromium-headless-shell'
const by = { network: 'namespace', isRoot: process.getuid?.() === 0, browsers: [chromium] } as const

t.test(
  'isolated: root makes the namespaces without a user namespace, and keeps what it takes to become the user',
  async (t) => {
    const command = isolated(['node', 'x'], { ...by, isRoot: true })
    t.strictSame(command.slice(1, 6), namespaces)
    t.notOk(command.includes('--unshare-user'))
    t.ok(command.includes('--bounding-set=-all,+setuid,+setgid,+dac_override'))
    t.strictSame(command.slice(-3), ['2048', 'node', 'x'])
  },
)

t.test('isolated: everybody else makes them in a user namespace, and keeps nothing', async (t) => {
  const command = isolated(['node', 'x'], { ...by, isRoot: false })
  for (const flag of ['--unshare-user', ...namespaces]) t.ok(command.includes(flag), flag)
  t.notOk(command.includes('--cap-add'))
  t.notOk(command.includes('setpriv'))
  t.strictSame(command.slice(-3), ['2048', 'node', 'x'])
})

t.test('isolated: by flags alone there is no bound of processes, which would count those of others', async (t) => {
  const command = isolated(['node'], { ...by, network: 'flags-only' })
  t.equal(command[0], 'sh')
  t.strictSame(command.slice(-2), ['', 'node'])
})

t.test('checkIsolation: names the setting and the reason where the file tree cannot be made', async (t) => {
  checkIsolation(by)
  const missing = join(t.testdir(), 'missing')
  t.throws(() => checkIsolation(by, [{ from: missing, to: '/run/missing' }]), {
    code: 'CONFIGURATION',
    message: /WORKER_NETWORK_ISOLATION.*missing/,
  })
})

t.test('checkIsolation: names the package where bwrap is missing', async (t) => {
  t.throws(() => checkIsolation(by, [], t.testdir()), { code: 'CONFIGURATION', message: /package bubblewrap/ })
})
