import t from 'tap'
import { isolated } from '#worker/network-isolation.ts'

t.test('root makes the namespace without a user namespace', async (t) => {
  const command = isolated(['node', 'x'], { isolation: 'namespace', isRoot: true })
  t.strictSame(command.slice(0, 2), ['unshare', '--net'])
  t.strictSame(command.slice(-3), ['sh', 'node', 'x'])
})

t.test('everybody else gives up the capabilities that the namespace brought, and all hope of new ones', async (t) => {
  const text = isolated(['node', 'x'], { isolation: 'namespace', isRoot: false }).join(' ')
  t.match(text, /--user .*--net/)
  for (const flag of ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs']) {
    t.match(text, flag)
  }
})

t.test('flags alone change nothing of the command', async (t) => {
  t.strictSame(isolated(['node'], { isolation: 'flags-only', isRoot: true }), ['node'])
})
