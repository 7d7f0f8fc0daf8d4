import t from 'tap'
import { findSize } from '#cli/plan/find-size.ts'
import { loadOfRate, loadOfTrace, parseTrace } from '#cli/plan/load.ts'
import type { Workers } from '#cli/simulation/forecast.ts'
import { laneObjectivesMs } from '#shared/policy/lane-objectives.ts'

const lane = 'interactive'
const workersWith = (queueWaitMs: number, given: Partial<Workers> = {}): Workers => ({
  least: 1,
  slots: 1,
  startMs: 8000,
  objectivesMs: laneObjectivesMs({ queueWaitMs }),
  ...given,
})

t.test('size: a constant rate takes about the pods of its load and twice their root', async (t) => {
  const load = loadOfRate({ perSecond: 10, lane, service: 2000 })
  const { forecast, isMet, workers } = findSize(load, workersWith(2000), { lane, waitMs: 2000 })
  t.ok(isMet)
  t.equal(workers.least, 1, 'the law meets it by itself')
  t.ok(forecast.meanWorkers > 24 && forecast.meanWorkers < 32, `${forecast.meanWorkers} pods for 20 busy ones`)
  const hours = forecast.workerHours
  t.ok(Math.abs(hours / forecast.meanWorkers - 1) < 0.01, `${hours} pod-hours in an hour`)
})

t.test('size: slots share a pod', async (t) => {
  const load = loadOfRate({ perSecond: 10, lane, service: 2000 })
  const pods = [1, 4].map((slots) => {
    const size = findSize(load, workersWith(2000, { slots }), { lane, waitMs: 2000 })
    return size.forecast.meanWorkers * slots
  })
  t.ok(Math.abs((pods[1] ?? 0) - (pods[0] ?? 0)) < 5, `${pods.join(' and ')} slots`)
})

const clumps = Array.from({ length: 30 }, (_, index) => `${Math.floor(index / 10) * 300}\n`.repeat(3)).join('')

t.test(
  'size: captures that come more quickly than workers start need workers that wait for them, and no more than that',
  async (t) => {
    const load = loadOfTrace(parseTrace(clumps, lane), 2000)
    const sizeFor = (waitMs: number, least = 1) => findSize(load, workersWith(2000, { least }), { lane, waitMs })
    const { workers, isMet, firstP95Ms } = sizeFor(2000)
    t.ok(isMet)
    t.ok(firstP95Ms > 5000, `${firstP95Ms} ms without them`)
    t.ok(workers.least > 1 && workers.least < 30, `at least ${workers.least}`)
    t.ok(sizeFor(4000).workers.least <= workers.least, 'a longer wait needs no more')
    t.ok(sizeFor(2000, workers.least - 1).firstP95Ms > 2000, 'one less is not enough')
  },
)

t.test('size: a load that is too much for any pool is not met', async (t) => {
  const load = loadOfTrace(parseTrace('0\n'.repeat(5000), lane), 600_000)
  const { isMet, firstP95Ms } = findSize(load, workersWith(2000), { lane, waitMs: 2000 })
  t.notOk(isMet)
  t.equal(firstP95Ms, Number.POSITIVE_INFINITY)
})
