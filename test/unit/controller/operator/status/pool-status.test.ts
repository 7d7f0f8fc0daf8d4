import t from 'tap'
import { poolStatus, type StatusParts } from '#controller/operator/status/pool-status.ts'
import type { PoolConditionType } from '#shared/kube/browser-pool.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'
import { emptyBacklog } from '#controller/decide/pool.ts'
import { observedWorkers, observedPool, observedWorker } from '#test/helpers/observed-pool.ts'

const at = new Date('2026-01-02T03:04:05.678Z')
const parts = ({ pool = poolObject(), ...of }: Partial<StatusParts> = {}): StatusParts => ({
  pool,
  instance: 'one',
  observation: observedPool({ workers: observedWorkers(2) }),
  decision: { kind: 'hold', desired: 2, reason: 'steady' },
  troubles: new Map(),
  isRollingOut: false,
  provisionMs: undefined,
  rollout: 'complete',
  problem: undefined,
  autoscalers: [],
  minimum: { replicas: pool.spec.autoscaling.minReplicas, isScheduled: false, problem: undefined },
  at,
  ...of,
})
const conditionText = (of: Partial<StatusParts>, type: PoolConditionType) => {
  const found = poolStatus(parts(of)).conditions?.find((condition) => condition.type === type)
  return `${found?.status} ${found?.reason}: ${found?.message}`
}

t.test('pool status: has the numbers of the tick', async (t) => {
  const backlog = { ...emptyBacklog, pending: 7, oldestMs: 2900 }
  const workers = [observedWorker('a', { busy: 2 }), observedWorker('b', { state: 'stopping', busy: 1 })]
  const status = poolStatus(
    parts({
      pool: poolObject('web', {}, { metadata: { generation: 4 } }),
      observation: observedPool({ backlog, workers }),
    }),
  )
  t.match(status, {
    observedGeneration: 4,
    replicas: 1,
    readyReplicas: 1,
    desiredReplicas: 2,
    busySlots: 3,
    queue: 7,
    oldestWaitSeconds: 2,
    reason: 'steady',
    selector: 'app.kubernetes.io/instance=one,shutterfleet.dev/pool=web',
  })
})

t.test('pool status: has the minimum of a schedule only while it is in force', async (t) => {
  const minimum = { replicas: 3, isScheduled: true, problem: undefined }
  t.match(poolStatus(parts({ minimum })), { scheduledMinReplicas: 3 })
  t.notOk('scheduledMinReplicas' in poolStatus(parts()))
  t.notOk('scheduledMinReplicas' in poolStatus(parts({ minimum, pool: fixed })))
})

t.test('pool status: has what the size was computed from, times in UTC and at whole minutes', async (t) => {
  const observation = observedPool()
  const held = { workers: 19, untilMs: observation.nowMs + 60_000 }
  const numbers = { arrivalsPerSecond: 6.14, captureMs: 2000, startMs: 3100, slots: 12.28, waiting: 0, required: 17 }
  const estimate = { ...numbers, predicted: 0, held }
  const decision = { kind: 'hold', desired: 17, reason: 'holding', estimate } as const
  t.strictSame(poolStatus(parts({ observation, decision })).estimate, {
    message: '6.1/s × 2.0 s = 12.3 slots need 17 workers; 19 are held until 03:06 UTC',
    arrivalsPerSecond: 6.1,
    captureSeconds: 2,
    startSeconds: 3.1,
    loadSlots: 12.3,
    waiting: 0,
    requiredReplicas: 17,
    predictedReplicas: 0,
    heldReplicas: 19,
    heldUntil: '2026-01-02T03:06:00Z',
  })
  t.notOk('estimate' in poolStatus(parts()))
})

t.test('pool status: times that a new leader has not measured stay as the leader before it wrote them', async (t) => {
  const measured = {
    arrivalsPerSecond: 1,
    captureMs: 2000,
    startMs: 3100,
    slots: 2,
    waiting: 0,
    required: 2,
    predicted: 0,
  }
  const of = (estimate: typeof measured | object) =>
    ({ kind: 'hold', desired: 2, reason: 'steady', estimate: { ...measured, ...estimate } }) as const
  const status = poolStatus(parts({ decision: of({}) }))
  const pool = poolObject('web', {}, { status })
  const next = poolStatus(parts({ pool, decision: of({ captureMs: undefined, startMs: undefined }) }))
  t.match(next.estimate, { captureSeconds: 2, startSeconds: 3.1 })
  t.match(poolStatus(parts({ pool, decision: of({ startMs: 4000 }) })).estimate, { startSeconds: 4 })
})

t.test('pool status: the reason is ApplyFailed while the objects cannot be applied', async (t) => {
  t.equal(poolStatus(parts({ problem: 'forbidden' })).reason, 'ApplyFailed')
  t.equal(poolStatus(parts()).reason, 'steady')
})

t.test('pool status: omits unknown numbers', async (t) => {
  const status = poolStatus(parts({ observation: observedPool({ workers: 'unknown', backlog: 'unknown' }) }))
  for (const name of ['replicas', 'readyReplicas', 'busySlots', 'queue', 'oldestWaitSeconds']) t.notOk(name in status)
})

t.test(
  'pool status: equal inputs give an equal status; a transition time changes only with its condition',
  async (t) => {
    t.strictSame(poolStatus(parts()), poolStatus(parts()))
    const before = poolStatus(parts({ at: new Date(0) }))
    const pool = poolObject('web', {}, { status: before })
    const after = poolStatus(parts({ pool, observation: observedPool({ workers: [] }) }))
    const times = Object.fromEntries(
      (after.conditions ?? []).map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
    )
    t.match(times, {
      Ready: '2026-01-02T03:04:05Z',
      Progressing: '1970-01-01T00:00:00Z',
      Degraded: '1970-01-01T00:00:00Z',
    })
  },
)

const fixed = poolObject('web', { autoscaling: { enabled: false }, replicas: 3 })
const invalid = { replicas: 1, isScheduled: false, problem: 'spec.a "b": c' }
const toZero = poolObject('web', { autoscaling: { minReplicas: 0, cooldownSeconds: 60 } })
const none = { kind: 'hold', desired: 0, reason: 'steady' } as const
const full = { kind: 'hold', desired: 4, reason: 'at-maximum' } as const
const frozen = { kind: 'freeze', desired: 2, reason: 'missing-heartbeats' } as const
const lost = { kind: 'replace', pods: ['a'], desired: 2, reason: 'lost' } as const
const workers = (...states: ('starting' | 'draining' | 'drained' | 'ready')[]) =>
  observedPool({ workers: states.map((state, index) => observedWorker(`w${index}`, { state })) })

const cases: readonly (readonly [string, PoolConditionType, Partial<StatusParts>, RegExp])[] = [
  ['enough are ready', 'Ready', {}, /^True WorkersReady: 2 workers take captures\.$/],
  [
    'fewer are ready than the minimum',
    'Ready',
    { observation: observedPool() },
    /^False WorkersMissing: 0 workers .* 1 must\.$/,
  ],
  ['fewer are ready than replicas', 'Ready', { pool: fixed }, /^False WorkersMissing: 2 workers .* at least 3 must\.$/],
  ['none is required', 'Ready', { pool: toZero, decision: none, observation: observedPool() }, /^True ScaledToZero: /],
  ['the first is required', 'Ready', { pool: toZero, observation: observedPool() }, /^False WorkersMissing/],
  ['the template is not observed yet', 'Ready', { rollout: 'pending' }, /^False RollingOut/],
  ['the template is being rolled out', 'Ready', { rollout: 'progressing' }, /^False RollingOut/],
  ['the rollout has failed', 'Ready', { rollout: 'failed' }, /^False RolloutFailed: .*the old ones serve\.$/],
  ['everything is applied', 'Reconciling', {}, /^False Reconciled/],
  ['the template is not observed yet', 'Reconciling', { rollout: 'pending' }, /^True RollingOut/],
  ['workers are missing', 'Reconciling', { observation: observedPool() }, /^True WorkersMissing/],
  ['the rollout has failed', 'Reconciling', { rollout: 'failed' }, /^False Reconciled/],
  ['the Deployment is refused', 'Reconciling', { rollout: 'pending', problem: 'x' }, /^False Reconciled/],
  ['the template is being rolled out', 'Stalled', { rollout: 'progressing' }, /^False AsExpected/],
  ['the rollout has failed', 'Stalled', { rollout: 'failed' }, /^True RolloutFailed/],
  ['the Deployment is refused', 'Stalled', { rollout: 'pending', problem: 'x' }, /^True ApplyFailed: .*x$/],
  [
    'the workers are unknown',
    'Ready',
    { observation: observedPool({ workers: 'unknown' }) },
    /^Unknown WorkersUnknown: /,
  ],
  [
    'a worker starts',
    'Progressing',
    { observation: workers('ready', 'starting') },
    /^True Starting: 1 worker is starting\.$/,
  ],
  [
    'two workers drain',
    'Progressing',
    { observation: workers('draining', 'drained') },
    /^True Draining: 2 workers take no more/,
  ],
  [
    'a template is being rolled out',
    'Progressing',
    { isRollingOut: true },
    /^True Replacing: Workers of an older template/,
  ],
  [
    'a template that does not start is rolled out',
    'Progressing',
    { isRollingOut: true, troubles: new Map([['image-pull', 'x']]) },
    /^True Replacing: .* the old ones serve\.$/,
  ],
  ['a worker is lost', 'Progressing', { decision: lost }, /^True Replacing: Silent workers/],
  ['nothing changes', 'Progressing', {}, /^False Settled/],
  ['all reads succeed', 'MetricsAvailable', {}, /^True MetricsRead/],
  [
    'the backlog is unknown',
    'MetricsAvailable',
    { observation: observedPool({ backlog: 'unknown' }) },
    /^False BacklogUnknown/,
  ],
  [
    'the workers are unknown',
    'MetricsAvailable',
    { observation: observedPool({ workers: 'unknown' }) },
    /^False WorkersUnknown/,
  ],
  ['most workers are silent', 'MetricsAvailable', { decision: frozen }, /^False MissingHeartbeats/],
  [
    'autoscaling is on',
    'ScalingActive',
    {},
    /^True AutoscalingOn: The queue decides between 1 and 4 workers; spec.replicas/,
  ],
  [
    'a schedule is in force',
    'ScalingActive',
    { minimum: { replicas: 3, isScheduled: true, problem: undefined } },
    /^True AutoscalingOn: The queue decides between 3 \(scheduled\) and 4 workers/,
  ],
  [
    'fewer workers take captures than a schedule in force requires',
    'Ready',
    { minimum: { replicas: 3, isScheduled: true, problem: undefined } },
    /^False WorkersMissing: 2 workers take captures, at least 3 must\.$/,
  ],
  [
    'autoscaling is off',
    'ScalingActive',
    { pool: fixed },
    /^False AutoscalingOff: spec.replicas asks for 3 workers\.$/,
  ],
  [
    'an operator has paused the queue',
    'ScalingActive',
    { decision: { kind: 'hold', desired: 1, reason: 'queue-paused' } },
    /^False QueuePaused/,
  ],
  ['the pool is paused', 'ScalingActive', { pool: poolObject('web', { paused: true }) }, /^False Paused/],
  [
    'more workers than the maximum are required',
    'ScalingLimited',
    { decision: full },
    /^True AtMaximum: More than maxReplicas, 4 workers/,
  ],
  [
    'a quota refuses pods',
    'ScalingLimited',
    { troubles: new Map([['quota', 'few']]) },
    /^True QuotaExceeded: .*says: few$/,
  ],
  ['the pool is within its bounds', 'ScalingLimited', {}, /^False WithinBounds/],
  ['there is no trouble', 'Degraded', {}, /^False AsExpected/],
  [
    'a quota refuses pods, which is no fault',
    'Degraded',
    { troubles: new Map([['quota', 'few']]) },
    /^False AsExpected/,
  ],
  [
    'no node has room',
    'Degraded',
    { troubles: new Map([['unschedulable', '0/1']]) },
    /^True Unschedulable: .*says: 0\/1$/,
  ],
  [
    'the image cannot be pulled',
    'Degraded',
    { troubles: new Map([['image-pull', '']]) },
    /^True ImagePull: [^:]*image\.$/,
  ],
  ['workers crash', 'Degraded', { troubles: new Map([['crash-looping', 'x']]) }, /^True CrashLooping/],
  ['workers have a config error', 'Degraded', { troubles: new Map([['config-error', 'x']]) }, /^True ConfigError/],
  ['nodes do not start the workers', 'Degraded', { troubles: new Map([['not-starting', 'x']]) }, /^True NotStarting/],
  ['pods are refused', 'Degraded', { troubles: new Map([['pods-refused', 'x']]) }, /^True PodsRefused/],
  [
    'an autoscaler sizes the Deployment',
    'Degraded',
    { autoscalers: ['web-cpu', 'web'] },
    /^True SizedByAnother: The HorizontalPodAutoscaler web sizes .* the BrowserPool web, with autoscaling off/,
  ],
  [
    'an autoscaler sizes the Deployment of workers that do not start',
    'Degraded',
    { autoscalers: ['web'], troubles: new Map([['image-pull', 'x']]) },
    /^True ImagePull/,
  ],
  [
    'a schedule is invalid',
    'Degraded',
    { minimum: invalid, autoscalers: ['web'] },
    /^True InvalidSchedule: A schedule is invalid and has no effect: spec\.a "b": c\.$/,
  ],
  [
    'a schedule is invalid and workers do not start',
    'Degraded',
    { minimum: invalid, troubles: new Map([['image-pull', 'x']]) },
    /^True ImagePull/,
  ],
  ['the Deployment is refused', 'Degraded', { problem: 'weight is 0' }, /^True ApplyFailed: .*says: weight is 0$/],
]

for (const [when, type, of, want] of cases)
  t.test(`pool status: ${type} if ${when}`, async (t) => {
    t.match(conditionText(of, type), want)
  })

t.test('pool status: a paused pool without workers is not ready, even if its minimum is zero', async (t) => {
  const spec = { paused: true, autoscaling: { minReplicas: 0, cooldownSeconds: 10 } }
  const of = {
    pool: poolObject('web', spec),
    observation: observedPool(),
    decision: { kind: 'freeze', desired: 0, reason: 'paused' },
  } as const
  t.match(conditionText(of, 'Ready'), /^False WorkersMissing: The pool is paused and has no worker/)
})
