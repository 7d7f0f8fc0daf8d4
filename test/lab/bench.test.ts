// Runs what `make bench` measures on whole systems in the smallest form, and checks that the numbers are plausible.
import t, { type Test } from 'tap'
import { measureEngine } from '#test/bench/engine/measure-engine.ts'
import {
  measureLasting,
  measureMemoryAlone,
  measurePages,
  measureRecycling,
  recyclingSettings,
} from '#test/bench/engine/measure-lasting.ts'
import { onWarmSite, type WarmSite } from '#test/bench/engine/warm-system.ts'
import { measureAccounts } from '#test/bench/measure-accounts.ts'
import { measureCallers } from '#test/bench/measure-callers.ts'
import { measureCaptures } from '#test/bench/measure-captures.ts'
import { measureIdle } from '#test/bench/measure-idle.ts'
import { measureLargeBatch } from '#test/bench/measure-large-batch.ts'
import { measureServiceMemory } from '#test/bench/measure-service-memory.ts'
import { measureStart } from '#test/bench/measure-start.ts'
import { measureCaptureCost } from '#test/bench/measure-telemetry.ts'
import { type SmallPage, smallPageOf } from '#test/bench/small-page.ts'
import { implausible } from '#test/helpers/implausible.ts'

const measureSmallPage = async (t: Test, page: SmallPage) => {
  const captures = await measureCaptures(page, { warmUps: 1, rounds: 2 })
  t.strictSame(implausible(captures, /^stages\./), [])
  t.ok(Object.keys(captures.stages).includes('total'))
  const callers = await measureCallers(page, { callers: [1, 2], settleMs: 1, countedMs: 200 })
  t.strictSame(implausible(callers), [])
  t.strictSame(
    callers.map(({ callers: count }) => count),
    [1, 2],
  )
  t.strictSame(implausible(await measureAccounts(page, { accounts: 2, captures: 2, rounds: 1 })), [])
  const { parts, total } = await measureIdle(page, { burst: 1, settleMs: 100, watchedMs: 300 })
  t.strictSame(implausible({ parts, total }, /core$/), [])
  t.equal(
    total.bytes,
    parts.reduce((sum, { bytes }) => sum + bytes, 0),
  )
  const memory = await measureServiceMemory(page, { callers: 2, captures: 2 })
  t.strictSame(implausible(memory, /before$/), [])
  t.ok(memory.every(({ before, peak }) => before <= peak))
  const cost = await measureCaptureCost({ plain: page, traced: page }, { rounds: 8, seconds: 0.1 })
  t.strictSame(implausible(cost), [])
  const batch = await measureLargeBatch(page, { captures: 100, calls: 2 })
  t.strictSame(implausible(batch), [])
  t.match(batch, { accepted: 100, waitsMs: { length: 2 }, servicesMs: { length: 2 } })
  t.ok(batch.unfinished > 0 && batch.unfinished < 100, `${batch.unfinished} captures are unfinished`)
}

const measureWorker = async (t: Test, warm: WarmSite) => {
  const memoryWorkload = { readAfter: [1, 2], settleMs: 1, format: 'jpeg' } as const
  const lasting = await measureLasting(warm, { ...memoryWorkload, tall: '/15', tallShots: 1, blocked: 1, kills: 1 })
  t.strictSame(implausible(lasting), [])
  t.equal(lasting.tall.length, 2)
  t.strictSame(implausible(await measureMemoryAlone(warm, memoryWorkload)), [])
  t.strictSame(implausible(await measurePages(warm, memoryWorkload)), [])
  t.strictSame(implausible(await measureRecycling(warm, 1), /reused/), [])
}

const measureAll = async (t: Test, warm: WarmSite) => {
  const compared = await measureEngine(warm, { warmUps: 1, rounds: 1, captures: 2, pairs: 1 }, 'inline')
  t.strictSame(implausible(compared, /cpuMs/), [])
  t.strictSame(
    compared.map(({ format, ours, bare }) => [format, ours.run.captures, bare.run.captures]),
    [
      ['jpeg', 2, 2],
      ['png', 2, 2],
    ],
  )
  await measureSmallPage(t, smallPageOf(warm.service.system, `http://${warm.site.httpHost}/15`))
  await measureWorker(t, warm)
}

t.test('bench: on one system, all is plausible', async (t) => {
  await onWarmSite(1, (warm) => measureAll(t, warm), recyclingSettings)
})

t.test('bench: a start is plausible', async (t) => {
  const start = await measureStart(1)
  t.strictSame(implausible(start), [])
  t.equal(start.runs.length, 1)
})
