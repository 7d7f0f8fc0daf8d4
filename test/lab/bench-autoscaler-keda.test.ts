// The vectors are facts of KEDA 2.21.0, pkg/scaling/executor: each table names its function of scale_jobs_test.go or
// scale_scaledobjects_test.go. Left out are those of paused objects, forced activation, conditions, events, errors, time-outs, the history
// and generation of jobs, and TestGetPendingJobCount, as the simulator says which pods are pending. Those of nats_jetstream_scaler_test.go
// are about the trigger's fields, none about its count.
import t from 'tap'
import type { Sight } from '#cli/simulation/sight.ts'
import type { CreateLaw } from '#test/bench/autoscaler/law.ts'
import { createDocumentedKeda, createNaiveKeda } from '#test/bench/autoscaler/laws/examples.ts'
import { createFixed } from '#test/bench/autoscaler/laws/fixed.ts'
import {
  createKedaJobs,
  decideJobs,
  effectiveScale,
  kedaJobs,
  type Strategy,
} from '#test/bench/autoscaler/laws/keda-jobs.ts'
import { createKeda, kedaBest, kedaDefaults, requestScale } from '#test/bench/autoscaler/laws/keda.ts'
import { idleSight } from '#test/helpers/idle-sight.ts'

const custom = (deduction: number, runningShare: number): Strategy => ({ name: 'custom', deduction, runningShare })

t.test('keda: the jobs that a strategy allows', async (t) => {
  // most of the metric, running, pending, greatest size, jobs
  type Vector = readonly [string, Strategy, number, number, number, number, number]
  const cases: readonly Vector[] = [
    ['TestDefaultScalingStrategy', { name: 'default' }, 3, 2, 0, 5, 1],
    ['TestDefaultScalingStrategy', { name: 'default' }, 2, 0, 0, 5, 2],
    ['TestCustomScalingStrategy', custom(1, 0.5), 3, 2, 0, 5, 1],
    ['TestCustomScalingStrategy', custom(1, 0.5), 10, 0, 0, 10, 9],
    ['TestCustomScalingStrategy', custom(2, 0), 3, 2, 0, 5, 1],
    ['TestCustomScalingStrategy', custom(-2, 0), 3, 2, 0, 4, 4],
    ['TestCustomScalingStrategyNilQueueLengthDeduction', custom(0, 0.5), 10, 2, 0, 100, 9],
    ['TestCustomScalingStrategyNilQueueLengthDeduction', custom(0, 0.5), 10, 0, 0, 100, 10],
    ['TestAccurateScalingStrategy', { name: 'accurate' }, 3, 2, 0, 5, 3],
    ['TestAccurateScalingStrategy', { name: 'accurate' }, 5, 2, 0, 5, 3],
    ['TestAccurateScalingStrategy', { name: 'accurate' }, 3, 4, 2, 10, 1],
    ['TestAccurateScalingStrategy', { name: 'accurate' }, 5, 4, 2, 5, 1],
    ['TestAccurateScalingStrategy', { name: 'accurate' }, 3, 3, 3, 5, 0],
    ['TestAccurateScalingStrategy', { name: 'accurate' }, 15, 15, 15, 20, 0],
    ['TestAccurateScalingStrategy', { name: 'accurate' }, 10, 10, 10, 15, 0],
    ['TestAccurateScalingStrategy', { name: 'accurate' }, 20, 15, 10, 20, 5],
    ['TestEagerScalingStrategy', { name: 'eager' }, 4, 3, 0, 10, 4],
    ['TestEagerScalingStrategy', { name: 'eager' }, 4, 0, 3, 10, 4],
    ['TestEagerScalingStrategy', { name: 'eager' }, 4, 7, 0, 10, 3],
    ['TestEagerScalingStrategy', { name: 'eager' }, 4, 1, 6, 10, 3],
    ['TestEagerScalingStrategy', { name: 'eager' }, 15, 0, 0, 10, 10],
  ]
  for (const [name, strategy, most, running, pending, max, want] of cases) {
    const decision = effectiveScale(strategy, { most, wanted: 1 }, { running, pending }, max)
    t.same(decision, { most: want, wanted: strategy.name === 'eager' ? 10 : 1 }, `${name}: ${most}, ${running}`)
  }
})

t.test('keda: jobs below the least size are created first', async (t) => {
  // least size, running, most, wanted, jobs
  const cases = [
    ['TestRunningJobCountSmallerMinReplicaCount', 2, 0, 0, 0, 2],
    ['TestRunningJobCountIsDeductedFromMinReplicaCount', 2, 1, 0, 0, 1],
    ['TestRunningJobCountGreaterOrEqualMinReplicaCountExecutesScalingStrategy', 1, 1, 2, 2, 2],
  ] as const
  for (const [name, min, running, most, wanted, want] of cases) {
    const decision = decideJobs({ name: 'default' }, { most, wanted }, { running, pending: 0 }, { min, max: 100 })
    t.same(decision, { most: want, wanted: want }, name)
  }
})

t.test('keda: the size that the operator requests', async (t) => {
  // whether a trigger is active, current, least, idle, size
  type Vector = readonly [string, boolean, number, number, number | undefined, number]
  const cases: readonly Vector[] = [
    ['TestScaleToMinReplicasWhenNotActive', false, 10, 0, undefined, 0],
    ['TestScaleToMinReplicasFromLowerInitialReplicaCount', false, 1, 5, undefined, 5],
    ['TestScaleFromMinReplicasWhenActive', true, 0, 0, undefined, 1],
    ['TestScaleToIdleReplicasWhenNotActive', false, 10, 5, 0, 0],
    ['TestScaleFromIdleToMinReplicasWhenActive', true, 0, 5, 0, 5],
    ['TestEventWitTriggerInfo', true, 2, 5, 0, 5],
  ]
  for (const [name, isActive, current, min, idle, want] of cases) {
    const poll = {
      isActive,
      current,
      min,
      sinceActiveMs: Infinity,
      cooldownMs: 300_000,
      ...(idle !== undefined && { idle }),
    }
    t.equal(requestScale(poll), want, name)
  }
})

t.test('keda: zero needs an inactive trigger for longer than the cooldown', async (t) => {
  const poll = { isActive: false, current: 2, min: 0, cooldownMs: 300_000 }
  t.equal(requestScale({ ...poll, sinceActiveMs: 300_000 }), 2)
  t.equal(requestScale({ ...poll, sinceActiveMs: 300_001 }), 0)
  t.equal(requestScale({ ...poll, min: 1, sinceActiveMs: 300_001 }), 2)
  t.equal(requestScale({ ...poll, isActive: true, sinceActiveMs: 300_001 }), 2)
})

type Load = Partial<Sight>
/** The times in seconds at which a pool, whose pods are at once ready, gets another size, and these. */
const changes = (create: CreateLaw, loadAt: (seconds: number) => Load, untilSeconds: number) => {
  const law = create({ min: 0, max: 20, slots: 2 })
  const found: [number, number][] = []
  let size = 0
  for (let nowMs = 0; nowMs <= untilSeconds * 1000; nowMs += law.everyMs) {
    const next = law.size({ ...idleSight, ...loadAt(nowMs / 1000), nowMs, ready: size })
    if (next !== size) found.push([nowMs / 1000, next])
    size = next
  }
  return found
}

t.test(
  'keda: from zero at a poll, further at an evaluation of the autoscaler, to zero after the cooldown',
  async (t) => {
    const load = (seconds: number) => ({ running: seconds > 10 && seconds < 100 ? 12 : 0 })
    const defaults = changes(createKeda(kedaDefaults), load, 500)
    // The last evaluation with captures is at 97.5 s, the last poll at 90 s, and each holds the pool for 300 s.
    t.same(defaults, [
      [30, 1],
      [37.5, 4],
      [52.5, 6],
      [412.5, 1],
      [420, 0],
    ])
    t.same(changes(createKeda(kedaBest()), load, 500), [
      [12, 1],
      [22.5, 6],
      [157.5, 1],
      [160, 0],
    ])
  },
)

t.test('keda: the documented example keeps the pods of running captures, on waiting ones it does not', async (t) => {
  const load = (seconds: number) => (seconds < 60 ? { waiting: 8 } : { running: 8 })
  t.same(changes(createDocumentedKeda, load, 600).at(-1), [7.5, 4])
  t.same(changes(createNaiveKeda, load, 600).at(-1)?.[1], 0)
})

t.test('keda: a trigger is active above its threshold only', async (t) => {
  const create = createKeda({ ...kedaDefaults, activation: 5 })
  t.same(
    changes(create, () => ({ waiting: 5 }), 60),
    [],
  )
  t.same(
    changes(create, () => ({ waiting: 6 }), 5),
    [[0, 1]],
  )
})

t.test('keda: a ScaledJob creates a job for each capture that has none', async (t) => {
  const created = (strategy: Strategy, load: Load, min = 0) =>
    createKedaJobs(kedaJobs(strategy))({ min, max: 10, slots: 1 }).size({ ...idleSight, ...load })
  const load = { waiting: 4, running: 2, ready: 2, starting: 1 }
  t.equal(created({ name: 'default' }, load), 3)
  t.equal(created({ name: 'accurate' }, load), 3)
  t.equal(created(custom(0, 0.5), load), 5)
  t.equal(created({ name: 'eager' }, load), 6)
  t.equal(created({ name: 'default' }, { ready: 1 }), 0)
  t.equal(created({ name: 'default' }, { waiting: 30, running: 8, ready: 8 }), 2)
  t.equal(created({ name: 'default' }, {}, 2), 2)
})

t.test('fixed: has its size whatever happens', async (t) => {
  t.equal(createFixed(7)({ min: 0, max: 20, slots: 1 }).size({ ...idleSight, waiting: 500 }), 7)
})
