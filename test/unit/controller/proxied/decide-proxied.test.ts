import t from 'tap'
import { decideProxied } from '#controller/proxied/decide-proxied.ts'
import {
  blankProxiedMemory,
  type JobTrouble,
  type ProxiedDecision,
  type ProxiedMemory,
  type ProxiedObservation,
  type ProxiedPolicy,
  type JobObservation,
} from '#controller/proxied/proxied.ts'

const nowMs = 1_000_000
const policy: ProxiedPolicy = { isPaused: false, max: 10, spares: 0, revision: 'new' }
const pull: JobTrouble = { reason: 'image-pull', message: 'Back-off pulling image' }
const calm: ProxiedMemory = { ...blankProxiedMemory, revision: 'new', readyAtMs: nowMs - 60_000, sinceMs: nowMs - 5000 }
const troubled: ProxiedMemory = { ...calm, trouble: pull, sinceMs: nowMs - 9000, tries: 2, retryAtMs: nowMs }

const jobs = (state: JobObservation['state'], count: number, given: Partial<JobObservation> = {}): JobObservation[] =>
  Array.from({ length: count }, (_, index) => ({ name: `${state}-${index}`, state, revision: 'new', ...given }))
const stuck = (count: number, forMs: number, given: Partial<JobObservation & JobTrouble> = {}) => {
  const { reason = pull.reason, message = pull.message, ...job } = given
  return jobs('stuck', count, { trouble: { reason, message, forMs }, ...job })
}
const observation = (given: Partial<ProxiedObservation> = {}): ProxiedObservation => ({
  nowMs,
  jobs: [],
  depth: { waiting: 0, inFlight: 0 },
  backlog: 'unknown',
  claims: [],
  starts: { ready: 0, failed: 0, last: undefined },
  ...given,
})
const waiting = (count: number, inFlight = 0) => ({ waiting: count, inFlight })

type Case = {
  name: string
  observation: Partial<ProxiedObservation>
  policy?: Partial<ProxiedPolicy>
  memory?: ProxiedMemory
  want: Partial<ProxiedDecision>
}

const cases: Case[] = [
  {
    name: 'creates no Jobs and publishes no state while the Jobs are unknown',
    observation: { jobs: 'unknown', depth: waiting(5) },
    want: { create: 0, reason: 'workers-unknown', state: undefined },
  },
  {
    name: 'creates no Jobs and publishes no state while the pool is paused',
    observation: { depth: waiting(5), jobs: jobs('idle', 1) },
    policy: { isPaused: true },
    want: { create: 0, desired: 1, reason: 'paused', state: undefined },
  },
  {
    name: 'creates no Jobs and publishes no state while an operator has paused the queue',
    observation: { depth: { ...waiting(5), isPaused: true }, jobs: jobs('idle', 1) },
    want: { create: 0, desired: 1, reason: 'queue-paused', state: undefined },
  },
  {
    name: 'creates no Jobs while the depth of JetStream is unknown',
    observation: { depth: 'unknown', jobs: jobs('serving', 2) },
    policy: { spares: 3 },
    want: {
      create: 0,
      desired: 2,
      reason: 'backlog-unknown',
      state: { canStart: true, forMs: 5000, reason: 'backlog-unknown' },
    },
  },
  {
    name: 'creates one Job for each waiting capture',
    observation: { depth: waiting(3) },
    want: { create: 3, desired: 3, reason: 'backlog' },
  },
  {
    name: 'counts captures in flight that no Job is known to serve',
    observation: { depth: waiting(0, 2) },
    want: { create: 2, reason: 'backlog' },
  },
  {
    name: 'creates none for captures that Jobs serve',
    observation: { depth: waiting(0, 4), jobs: jobs('serving', 4) },
    want: { create: 0, desired: 4, reason: 'steady' },
  },
  {
    name: 'creates none for captures that starting, idle or leaving Jobs will take',
    observation: { depth: waiting(3), jobs: [...jobs('coming', 1), ...jobs('idle', 1), ...jobs('leaving', 1)] },
    want: { create: 0, desired: 3, reason: 'starting' },
  },
  {
    name: 'does not count spent or lost Jobs as capacity',
    observation: { depth: waiting(2), jobs: [...jobs('spent', 3), ...jobs('lost', 1)] },
    want: { create: 2, desired: 2, reason: 'backlog' },
  },
  {
    name: 'never exceeds the maximum of unfinished Jobs, spent ones included',
    observation: { depth: waiting(50, 4), jobs: [...jobs('serving', 4), ...jobs('spent', 4)] },
    want: { create: 2, desired: 10, reason: 'at-maximum' },
  },
  {
    name: 'creates none above a lowered maximum',
    observation: { depth: waiting(50), jobs: jobs('spent', 12) },
    want: { create: 0, desired: 10, reason: 'at-maximum' },
  },
  {
    name: 'keeps spares',
    observation: { jobs: jobs('idle', 1) },
    policy: { spares: 3 },
    want: { create: 2, desired: 3, reason: 'buffer' },
  },
  {
    name: 'keeps spares on top of the backlog',
    observation: { depth: waiting(1, 1), jobs: [...jobs('idle', 2), ...jobs('serving', 1)] },
    policy: { spares: 2 },
    want: { create: 1, desired: 4, reason: 'buffer' },
  },
  {
    name: 'keeps its spares if the depth is below the number of serving Jobs',
    observation: { depth: waiting(0), jobs: [...jobs('serving', 2), ...jobs('idle', 1)] },
    policy: { spares: 1 },
    want: { create: 0, desired: 3, reason: 'steady' },
  },
  {
    name: 'has the reason steady without work',
    observation: {},
    want: { create: 0, desired: 0, reason: 'steady', state: { canStart: true, forMs: 5000, reason: 'steady' } },
  },
  {
    name: 'returns claims, even while it creates no Jobs',
    observation: { depth: 'unknown', claims: [{ job: 'serving-0', captureId: 'c' }] },
    want: { claims: [{ job: 'serving-0', captureId: 'c' }] },
  },
  {
    name: 'treats a stuck Job as a trouble, and creates no more at first',
    observation: { depth: waiting(4), jobs: stuck(2, 0) },
    want: {
      create: 0,
      reason: 'image-pull',
      trouble: pull,
      state: { canStart: false, forMs: 0, reason: 'image-pull' },
    },
  },
  {
    name: 'creates none in addition to stuck Jobs for the same captures',
    observation: { depth: waiting(2), jobs: stuck(2, 9000) },
    memory: troubled,
    want: { create: 0, reason: 'image-pull', state: { canStart: false, forMs: 9000, reason: 'image-pull' } },
  },
  {
    name: 'retries one Job at its retry time',
    observation: { depth: waiting(9), jobs: stuck(2, 9000) },
    memory: troubled,
    want: { create: 1, reason: 'image-pull' },
  },
  {
    name: 'retries none while another is starting',
    observation: { depth: waiting(9), jobs: [...stuck(2, 9000), ...jobs('coming', 1)] },
    memory: troubled,
    want: { create: 0, reason: 'image-pull' },
  },
  {
    name: 'retries none before its retry time',
    observation: { depth: waiting(9) },
    memory: { ...troubled, retryAtMs: nowMs + 1 },
    want: { create: 0, reason: 'image-pull' },
  },
  {
    name: 'does not retry above the maximum',
    observation: { depth: waiting(90), jobs: stuck(10, 9000) },
    memory: troubled,
    want: { create: 0, reason: 'image-pull' },
  },
  {
    name: 'treats a Job that failed before its claim as a trouble',
    observation: {
      depth: waiting(2),
      starts: { ready: 0, failed: 1, last: { reason: 'crash-looping', message: 'x' } },
    },
    want: { create: 0, reason: 'crash-looping', trouble: { reason: 'crash-looping', message: 'x' } },
  },
  {
    name: 'ends the trouble as soon as a Job is ready',
    observation: { depth: waiting(3), starts: { ready: 1, failed: 0, last: undefined } },
    memory: troubled,
    want: { create: 3, reason: 'backlog', trouble: undefined, state: { canStart: true, forMs: 0, reason: 'backlog' } },
  },
  {
    name: 'a failure is no trouble while other Jobs become ready',
    observation: {
      depth: waiting(3),
      starts: { ready: 5, failed: 3, last: { reason: 'crash-looping', message: 'x' } },
    },
    want: { create: 3, trouble: undefined },
  },
  {
    name: 'a Job stuck since before another became ready is no trouble',
    observation: { depth: waiting(4), jobs: stuck(1, 30_000) },
    memory: { ...calm, readyAtMs: nowMs - 10_000 },
    want: { create: 3, reason: 'backlog', trouble: undefined },
  },
  {
    name: 'a Job stuck since the last one became ready is a trouble',
    observation: { depth: waiting(4), jobs: stuck(1, 5000) },
    memory: { ...calm, readyAtMs: nowMs - 10_000 },
    want: { create: 0, reason: 'image-pull' },
  },
  {
    name: 'gives up a Job stuck on its node for more than a minute, and counts it until it has ended',
    observation: { depth: waiting(1), jobs: stuck(1, 60_001) },
    memory: calm,
    want: { create: 0, giveUp: ['stuck-0'] },
  },
  {
    name: 'keeps a Job for three minutes while its node may still pull the image',
    observation: { depth: waiting(1), jobs: stuck(1, 180_000, { reason: 'not-starting' }) },
    memory: calm,
    want: { create: 0, giveUp: [] },
  },
  {
    name: 'gives up a Job that its node has not started for more than three minutes',
    observation: { depth: waiting(1), jobs: stuck(1, 180_001, { reason: 'not-starting' }) },
    memory: calm,
    want: { create: 0, giveUp: ['stuck-0'] },
  },
  {
    name: 'keeps an unschedulable Job',
    observation: { depth: waiting(1), jobs: stuck(1, 600_000, { reason: 'unschedulable' }) },
    memory: { ...troubled, readyAtMs: Number.NEGATIVE_INFINITY },
    want: { create: 0, giveUp: [], reason: 'unschedulable' },
  },
  {
    name: 'gives up stuck Jobs of an old revision, and clears their trouble',
    observation: { depth: waiting(1), jobs: stuck(1, 5000, { reason: 'unschedulable', revision: 'old' }) },
    memory: { ...troubled, revision: 'old' },
    want: { create: 0, giveUp: ['stuck-0'], trouble: undefined, state: { canStart: true, forMs: 0, reason: 'steady' } },
  },
  {
    name: 'keeps working Jobs of an old revision',
    observation: {
      depth: waiting(0, 1),
      jobs: [...jobs('serving', 1, { revision: 'old' }), ...jobs('idle', 1, { revision: 'old' })],
    },
    policy: { spares: 1 },
    want: { create: 0, giveUp: [], reason: 'steady' },
  },
  {
    name: 'retries after a quota refusal as soon as a Job has ended',
    observation: { depth: waiting(5), jobs: jobs('spent', 2) },
    memory: { ...troubled, trouble: { reason: 'quota', message: 'x' }, retryAtMs: nowMs + 50_000, unfinished: 3 },
    want: { create: 1, reason: 'quota' },
  },
]

for (const { name, want, ...given } of cases) {
  t.test(`decide proxied: ${name}`, (t) => {
    const { decision } = decideProxied(
      observation(given.observation),
      { ...policy, ...given.policy },
      given.memory ?? calm,
    )
    t.match(decision, want)
    // An empty list matches any.
    if (want.giveUp) t.strictSame(decision.giveUp, want.giveUp)
    t.end()
  })
}

t.test('decide proxied: doubles the wait after each try, up to a minute', (t) => {
  let memory: ProxiedMemory = { ...troubled, tries: 0 }
  const waits: number[] = []
  for (let atMs = nowMs; waits.length < 8;) {
    const next = decideProxied(observation({ nowMs: atMs, depth: waiting(1) }), policy, memory)
    memory = next.memory
    t.equal(next.decision.create, 1)
    waits.push(memory.retryAtMs - atMs)
    atMs = memory.retryAtMs
  }
  t.strictSame(waits, [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
  t.end()
})

t.test('decide proxied: restarts the duration of a state after it was unknown or paused', (t) => {
  const at = (ms: number, given: Partial<ProxiedObservation> = {}) =>
    observation({ nowMs: nowMs + ms, jobs: stuck(1, 9000), ...given })
  let memory = troubled
  const step = (of: ProxiedObservation, with_ = policy) => {
    const next = decideProxied(of, with_, memory)
    memory = next.memory
    return next.decision.state
  }
  t.match(step(at(0)), { canStart: false, forMs: 9000 })
  t.equal(step(at(1000, { jobs: 'unknown' })), undefined)
  t.match(step(at(2000)), { canStart: false, forMs: 0 })
  t.match(step(at(3000)), { canStart: false, forMs: 1000 })
  t.equal(step(at(4000), { ...policy, isPaused: true }), undefined)
  t.match(step(at(5000)), { canStart: false, forMs: 0 })
  t.end()
})
