import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { limited, type Limits } from '#worker/isolation/limited.ts'

const look = 'cat /proc/self/oom_score_adj; grep -E "^Max (core file size|processes) " /proc/self/limits'
const seenBy = (limits: Limits) => {
  const [file, ...args] = limited(['sh', '-c', look], limits)
  const { stdout } = spawnSync(file, args, { encoding: 'utf8' })
  return stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
}
/** A process that is to end even earlier stays as it is. */
const oomScore = Math.max(300, Number(readFileSync('/proc/self/oom_score_adj', 'utf8')))

t.test('limited: no core dump, no more processes than allowed, and an early end when memory ends', async (t) => {
  const [score, core, tasks] = seenBy({ tasksMax: 1000 })
  t.strictSame(score, [String(oomScore)])
  t.match(core, ['Max core file size', '0', '0'])
  t.match(tasks, ['Max processes', '1000', '1000'])
})

t.test('limited: without a bound of processes that of the caller stays', async (t) => {
  const [, , tasks] = seenBy({ tasksMax: undefined })
  const own = /^Max processes.*$/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[0].trim().split(/ {2,}/)
  t.strictSame(tasks, own)
})
