import t from 'tap'
import { emptyBacklog } from '#controller/decide/pool.ts'
import { proxiedStatus } from '#controller/operator/status/proxied-status.ts'
import { statusChange } from '#controller/operator/status/status-change.ts'
import { type Trouble, troubles } from '#controller/decide/pool.ts'
import type { ProxiedDecision, ProxiedObservation, JobObservation } from '#controller/proxied/proxied.ts'
import type { BrowserPool, BrowserPoolStatus, PoolConditionType } from '#shared/kube/browser-pool.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

const at = new Date('2026-11-20T10:00:00.500Z')
const poolWith = (given: { paused?: boolean; status?: BrowserPoolStatus } = {}): BrowserPool =>
  poolObject(
    'proxied',
    { paused: given.paused ?? false, jobs: { max: 10, spares: 2 } },
    { metadata: { generation: 3 }, ...(given.status && { status: given.status }) },
  )

const jobs = (...states: JobObservation['state'][]): JobObservation[] =>
  states.map((state, index) => ({ name: `${index}`, state, revision: '' }))
const observation = (given: Partial<ProxiedObservation> = {}): ProxiedObservation => ({
  nowMs: 0,
  jobs: [],
  depth: { waiting: 0, inFlight: 0 },
  backlog: { ...emptyBacklog, pending: 7, processing: 1, oldestMs: 2999 },
  claims: [],
  starts: { ready: 0, failed: 0, last: undefined },
  ...given,
})
const decided = (given: Partial<ProxiedDecision> = {}): ProxiedDecision => ({
  create: 0,
  giveUp: [],
  claims: [],
  desired: 4,
  reason: 'steady',
  state: undefined,
  trouble: undefined,
  ...given,
})
const composeStatus = (
  given: { observation?: Partial<ProxiedObservation>; decision?: Partial<ProxiedDecision>; pool?: BrowserPool } = {},
) =>
  proxiedStatus({
    pool: given.pool ?? poolWith(),
    instance: 'one',
    observation: observation(given.observation),
    decision: decided(given.decision),
    at,
  })
const conditionTexts = ({ conditions = [] }: BrowserPoolStatus) =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
const messageOf = ({ conditions = [] }: BrowserPoolStatus, type: PoolConditionType) =>
  conditions.find((condition) => condition.type === type)?.message

const well = {
  Ready: 'True WorkersReady',
  Reconciling: 'False Reconciled',
  Stalled: 'False AsExpected',
  Progressing: 'False Settled',
  MetricsAvailable: 'True MetricsRead',
  ScalingActive: 'True AutoscalingOn',
  ScalingLimited: 'False WithinBounds',
  Degraded: 'False AsExpected',
}

t.test('status of a pool of Jobs: has the numbers of Jobs and of captures', (t) => {
  const status = composeStatus({ observation: { jobs: jobs('serving', 'serving', 'idle', 'coming', 'spent') } })
  const { replicas, readyReplicas, desiredReplicas, busySlots, queue, oldestWaitSeconds, reason, observedGeneration } =
    status
  t.strictSame([replicas, readyReplicas, desiredReplicas, busySlots, queue, oldestWaitSeconds], [5, 3, 4, 2, 7, 2])
  t.strictSame([reason, observedGeneration], ['steady', 3])
  t.match(status.selector, 'shutterfleet.dev/pool=proxied')
  t.strictSame(conditionTexts(status), well)
  t.end()
})

t.test('status of a pool of Jobs: omits unknown numbers', (t) => {
  const status = composeStatus({
    observation: { jobs: 'unknown', depth: 'unknown', backlog: 'unknown' },
    decision: { reason: 'workers-unknown' },
  })
  t.notOk('replicas' in status || 'queue' in status)
  t.match(conditionTexts(status), { Ready: 'Unknown WorkersUnknown', MetricsAvailable: 'False WorkersUnknown' })
  t.match(conditionTexts(composeStatus({ observation: { depth: 'unknown' } })), {
    ...well,
    MetricsAvailable: 'False BacklogUnknown',
  })
  t.end()
})

t.test("status of a pool of Jobs: reports why Jobs cannot start, with Kubernetes' message", (t) => {
  const reasons: Record<Exclude<Trouble, 'quota'>, string> = {
    unschedulable: 'Unschedulable',
    'image-pull': 'ImagePull',
    'crash-looping': 'CrashLooping',
    'config-error': 'ConfigError',
    'not-starting': 'NotStarting',
    'pods-refused': 'PodsRefused',
  }
  for (const trouble of troubles) {
    const status = composeStatus({ decision: { trouble: { reason: trouble, message: 'no room' }, reason: trouble } })
    const expected =
      trouble === 'quota'
        ? { ...well, Ready: 'False WorkersMissing', ScalingLimited: 'True QuotaExceeded' }
        : { ...well, Ready: 'False WorkersMissing', Degraded: `True ${reasons[trouble]}` }
    t.strictSame(conditionTexts(status), expected)
    t.match(
      messageOf(status, trouble === 'quota' ? 'ScalingLimited' : 'Degraded'),
      /^Jobs .+\. Kubernetes says: no room$/,
    )
  }
  t.end()
})

t.test('status of a pool of Jobs: reports a pause and the maximum', (t) => {
  const paused = conditionTexts(composeStatus({ pool: poolWith({ paused: true }) }))
  t.match(paused, { Ready: 'False WorkersMissing', ScalingActive: 'False Paused' })
  t.match(conditionTexts(composeStatus({ decision: { reason: 'queue-paused' } })), {
    ScalingActive: 'False QueuePaused',
  })
  t.match(conditionTexts(composeStatus({ decision: { reason: 'at-maximum' } })), {
    ...well,
    ScalingLimited: 'True AtMaximum',
  })
  t.end()
})

t.test('status of a pool of Jobs: a change of captures changes numbers only, no transition times', (t) => {
  const before = composeStatus({ decision: { trouble: { reason: 'image-pull', message: '' } } })
  const pool = poolWith({ status: before })
  const later = {
    pool,
    instance: 'one',
    observation: observation(),
    decision: decided(),
    at: new Date('2026-11-20T11:00:00Z'),
  }
  const after = proxiedStatus(later)
  const timeOf = (of: BrowserPoolStatus, type: string) =>
    of.conditions?.find((each) => each.type === type)?.lastTransitionTime
  t.equal(timeOf(after, 'Progressing'), '2026-11-20T10:00:00Z')
  t.equal(timeOf(after, 'Degraded'), '2026-11-20T11:00:00Z')
  const states = [jobs('coming'), jobs('idle'), jobs('serving'), jobs('spent', 'coming')]
  for (const each of states) {
    const next = proxiedStatus({
      ...later,
      pool: poolWith({ status: after }),
      observation: observation({ jobs: each }),
    })
    t.equal(statusChange(after, next), 'numbers')
  }
  t.end()
})
