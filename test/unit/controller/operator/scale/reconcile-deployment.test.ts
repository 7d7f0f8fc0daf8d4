import t from 'tap'
import {
  holdDuringRollout,
  nameSchedule,
  reconcileDeployment,
} from '#controller/operator/scale/reconcile-deployment.ts'
import type { Decision } from '#controller/decide/pool.ts'
import { runLoop } from '#controller/loop/loop.ts'
import { createWakeup } from '#shared/process/wakeup.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import type { WantedSpec } from '#test/helpers/operator-cluster.ts'
import { podSettings, poolObject } from '#test/helpers/kube-objects.ts'
import { createRolloutTurns } from '#controller/operator/apply/rollout-turns.ts'
import { KubeError } from '#shared/kube/kube-error.ts'
import { asKubeApi } from '#test/helpers/object-api.ts'
import { createQueueDouble } from '#test/helpers/queue-double.ts'

const refuse = async (): Promise<never> => {
  throw new KubeError('unavailable', { message: 'away' })
}

/** The inputs of a loop before its first decision; counts lists of workers, and has the minimum of the last decision. */
const startLoop = (synced: Promise<void>, autoscaling: WantedSpec['autoscaling'] = { enabled: false }) => {
  const clock = createHandClock()
  let min = 0
  let lists = 0
  const subscription = { heartbeats: new Map(), backlog: () => 'unknown' as const, listeningMs: () => 0 }
  const deps = {
    clock,
    api: asKubeApi({ get: refuse, patch: refuse, remove: refuse }),
    informers: {
      namespace: 'default',
      podsOf: () => [],
      hasPod: () => false,
      assertFresh: () => {
        lists += 1
      },
      deployment: () => undefined,
      budget: () => undefined,
      autoscalersOf: () => [],
    },
    turns: createRolloutTurns(clock, { pools: () => [], deployment: () => undefined, hasSynced: () => true }),
    applyFailed: () => {},
    podStarts: {
      ageMs: () => 0,
      troubleOf: () => undefined,
      wasReady: () => false,
      onWorker: () => ({ [Symbol.dispose]: () => {} }),
      startsOf: () => ({ starts: { ready: 0, failed: 0 }, startMs: undefined, provisionMs: undefined }),
    },
    subscriptions: { forPool: () => subscription, waitForSync: () => synced },
    queue: createQueueDouble({}),
    occurred: () => {},
    settings: podSettings,
  }
  const events = {
    worker: () => {},
    decided: (_: object, policy: { min: number }) => {
      min = policy.min
    },
    tickFailed: () => {},
    reconciled: () => {},
    [Symbol.dispose]: () => {},
  }
  const pool = poolObject('web', { autoscaling })
  const stop = new AbortController()
  const wakeup = createWakeup(1)
  const running = reconcileDeployment(deps, {
    name: 'web',
    labels: { queue: 'standard', browserpool: 'web' },
    pool: () => pool,
    events,
    wakeup,
    stop: stop.signal,
    run: (workload) =>
      runLoop(
        workload,
        { wakeup, timing: { tickMs: 10, limitMs: 1000 }, report: () => {}, failed: () => {}, took: () => {} },
        stop.signal,
      ),
  })
  return { clock, lists: () => lists, min: () => min, end: () => (stop.abort(), running) }
}

t.test('reconcile deployment: decides nothing before heartbeats are received', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { lists, end } = startLoop(promise)
  await new Promise(setImmediate)
  t.equal(lists(), 0)
  resolve()
  await eventually(() => lists() > 0, { what: 'it reconciles' })
  await end()
})

t.test('reconcile deployment: decides by the minimum that the schedules give at the time', async (t) => {
  const schedules = [{ start: '0 8 * * *', end: '0 18 * * *', timeZone: 'UTC', minReplicas: 3 }]
  const { clock, min, end } = startLoop(Promise.resolve(), { minReplicas: 1, schedules })
  t.teardown(end)
  await eventually(() => min() === 1, { what: 'the own minimum at midnight' })
  clock.freeze(8 * 3_600_000)
  await eventually(() => min() === 3, { what: 'that of the schedule at 8' })
  clock.freeze(10 * 3_600_000)
  await eventually(() => min() === 1, { what: 'the own minimum at 18' })
})

t.test('name schedule: a size that is the minimum of a schedule has the reason scheduled', async (t) => {
  const minimum = { replicas: 3, isScheduled: true }
  const up: Decision = { kind: 'scale-up', to: 3, undrain: [], desired: 3, reason: 'below-minimum' }
  const hold: Decision = { kind: 'hold', desired: 3, reason: 'steady' }
  t.strictSame(nameSchedule(up, minimum), { ...up, reason: 'scheduled' })
  t.strictSame(nameSchedule(hold, minimum), { ...hold, reason: 'scheduled' })
  t.equal(nameSchedule(hold, { ...minimum, isScheduled: false }), hold)
  for (const decision of [
    { kind: 'hold', desired: 4, reason: 'steady' },
    { kind: 'hold', desired: 3, reason: 'holding' },
    { kind: 'hold', desired: 3, reason: 'crash-looping' },
    { kind: 'freeze', desired: 3, reason: 'paused' },
  ] satisfies Decision[])
    t.equal(nameSchedule(decision, minimum), decision)
})

const drain: Decision = { kind: 'drain', pods: ['a'], desired: 2, reason: 'excess' }

t.test(
  'hold during rollout: no drain while there are more workers than requested, or during a rollout without surge',
  async (t) => {
    t.strictSame(holdDuringRollout(drain, { hasSurplus: true, isRollingOut: false, isRolloutStalled: false }), {
      kind: 'hold',
      desired: 2,
      reason: 'starting',
    })
    t.match(holdDuringRollout(drain, { hasSurplus: false, isRollingOut: true, isRolloutStalled: false }), {
      kind: 'hold',
      reason: 'rollout',
    })
    t.equal(holdDuringRollout(drain, { hasSurplus: false, isRollingOut: false, isRolloutStalled: false }), drain)
  },
)

t.test('hold during rollout: a held size has the reason rollout', async (t) => {
  t.strictSame(holdDuringRollout(drain, { hasSurplus: true, isRollingOut: true, isRolloutStalled: false }), {
    kind: 'hold',
    desired: 2,
    reason: 'rollout',
  })
})

t.test('hold during rollout: a stalled rollout holds no size', async (t) => {
  t.equal(holdDuringRollout(drain, { hasSurplus: true, isRollingOut: true, isRolloutStalled: true }), drain)
})

t.test('hold during rollout: a held drain keeps its reason during the wait for the next step', async (t) => {
  const stepping: Decision = { kind: 'hold', desired: 2, reason: 'stepping' }
  t.match(holdDuringRollout(stepping, { hasSurplus: true, isRollingOut: true, isRolloutStalled: false }), {
    kind: 'hold',
    reason: 'rollout',
  })
  t.equal(holdDuringRollout(stepping, { hasSurplus: false, isRollingOut: false, isRolloutStalled: false }), stepping)
})

t.test('hold during rollout: every other decision passes', async (t) => {
  for (const decision of [
    { kind: 'stop', pods: ['a'], desired: 2, reason: 'drained' },
    { kind: 'scale-up', to: 4, undrain: [], desired: 4, reason: 'load' },
  ] satisfies Decision[])
    t.equal(holdDuringRollout(decision, { hasSurplus: true, isRollingOut: true, isRolloutStalled: false }), decision)
})
