import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { killGroup } from '#shared/process/kill-group.ts'
import { childrenOf } from '#worker/process-groups.ts'

t.test('finds children, and ends a group with everything in it', async (t) => {
  const child = spawn('sh', ['-c', 'sleep 60 & wait'], { detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  t.ok(childrenOf(process.pid).includes(child.pid ?? 0))
  killGroup(child.pid ?? 0)
  t.strictSame(await once(child, 'exit'), [null, 'SIGKILL'])
})

t.test('a group that is gone counts as ended, and no number ends more than a group', async (t) => {
  killGroup(2 ** 22 - 1)
  t.strictSame(childrenOf(2 ** 22 - 1), [])
  for (const dangerous of [-1, 0, 1, Number.NaN]) t.throws(() => killGroup(dangerous))
})
