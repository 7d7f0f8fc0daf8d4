// Runs what `make bench` measures on whole systems in the smallest form, and checks that the numbers are plausible.
import t from 'tap'
import { measureEngine } from '#test/bench/engine/measure-engine.ts'
import {
  measureLasting,
  measureMemoryAlone,
  measureRecycling,
  recyclingSettings,
} from '#test/bench/engine/measure-lasting.ts'
import { onWarmSite } from '#test/bench/engine/warm-system.ts'
import { measureCallers } from '#test/bench/measure-callers.ts'
import { measureCaptures } from '#test/bench/measure-captures.ts'
import { measureIdle } from '#test/bench/measure-idle.ts'
import { measureStart } from '#test/bench/measure-start.ts'
import { measureCaptureCost } from '#test/bench/measure-telemetry.ts'
import { startSmallPage } from '#test/bench/small-page.ts'
import { implausible } from '#test/helpers/implausible.ts'

t.test('bench: captures of a small page, by callers and when idle, are plausible', async (t) => {
  await using page = await startSmallPage()
  const captures = await measureCaptures(page, { warmUps: 1, rounds: 2 })
  t.strictSame(implausible(captures, /^stages\./), [])
  t.ok(Object.keys(captures.stages).includes('total'))
  const callers = await measureCallers(page, { callers: [1, 2], settleMs: 1, countedMs: 500 })
  t.strictSame(implausible(callers), [])
  t.strictSame(
    callers.map(({ callers: count }) => count),
    [1, 2],
  )
  const { parts, total } = await measureIdle(page, { burst: 1, settleMs: 100, watchedMs: 500 })
  t.strictSame(implausible({ parts, total }, /core$/), [])
  t.equal(
    total.bytes,
    parts.reduce((sum, { bytes }) => sum + bytes, 0),
  )
})

t.test('bench: the engine, and what lasts, are plausible', async (t) => {
  await onWarmSite(
    1,
    async (warm) => {
      const compared = await measureEngine(warm, { warmUps: 1, rounds: 1, captures: 2, pairs: 1 }, 'inline')
      t.strictSame(implausible(compared, /cpuMs/), [])
      t.strictSame(
        compared.map(({ format, ours, bare }) => [format, ours.run.captures, bare.run.captures]),
        [
          ['jpeg', 2, 2],
          ['png', 2, 2],
        ],
      )
      const looks = { looks: [1, 2], settleMs: 1, format: 'jpeg' } as const
      const lasting = await measureLasting(warm, { ...looks, tall: '/tall-8000', tallShots: 1, blocked: 1, kills: 1 })
      t.strictSame(implausible(lasting), [])
      t.equal(lasting.tall.length, 2)
      t.strictSame(implausible(await measureMemoryAlone(warm, looks)), [])
      const recycling = await measureRecycling(warm, 1)
      t.strictSame(implausible(recycling, /kept/), [])
    },
    recyclingSettings,
  )
})

t.test('bench: what telemetry costs captures is plausible', async (t) => {
  t.strictSame(implausible(await measureCaptureCost(1, 0.5)), [])
})

t.test('bench: a start is plausible', async (t) => {
  const start = await measureStart(1)
  t.strictSame(implausible(start), [])
  t.equal(start.runs.length, 1)
})
