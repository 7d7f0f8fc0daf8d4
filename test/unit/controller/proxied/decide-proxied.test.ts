import t from 'tap'
import { decideProxied } from '#controller/proxied/decide-proxied.ts'
import {
  blankProxiedMemory,
  type JobTrouble,
  type ProxiedDecision,
  type ProxiedMemory,
  type ProxiedObservation,
  type ProxiedPolicy,
  type SeenJob,
} from '#controller/proxied/proxied.ts'

const nowMs = 1_000_000
const policy: ProxiedPolicy = { isPaused: false, max: 10, spares: 0, revision: 'new' }
const pull: JobTrouble = { why: 'image-pull', message: 'Back-off pulling image' }
const calm: ProxiedMemory = { ...blankProxiedMemory, revision: 'new', readyAtMs: nowMs - 60_000, sinceMs: nowMs - 5000 }
const troubled: ProxiedMemory = { ...calm, trouble: pull, sinceMs: nowMs - 9000, tries: 2, retryAtMs: nowMs }

const jobs = (state: SeenJob['state'], count: number, given: Partial<SeenJob> = {}): SeenJob[] =>
  Array.from({ length: count }, (_, index) => ({ name: `${state}-${index}`, state, revision: 'new', ...given }))
const stuck = (count: number, forMs: number, given: Partial<SeenJob & JobTrouble> = {}) => {
  const { why = pull.why, message = pull.message, ...job } = given
  return jobs('stuck', count, { trouble: { why, message, forMs }, ...job })
}
const seen = (given: Partial<ProxiedObservation> = {}): ProxiedObservation => ({
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
  seen: Partial<ProxiedObservation>
  policy?: Partial<ProxiedPolicy>
  memory?: ProxiedMemory
  want: Partial<ProxiedDecision>
}

const cases: Case[] = [
  {
    name: 'makes nothing and says nothing while the Jobs are unknown',
    seen: { jobs: 'unknown', depth: waiting(5) },
    want: { create: 0, reason: 'workers-unknown', state: undefined },
  },
  {
    name: 'makes nothing and says nothing while the pool is paused',
    seen: { depth: waiting(5), jobs: jobs('idle', 1) },
    policy: { isPaused: true },
    want: { create: 0, wanted: 1, reason: 'paused', state: undefined },
  },
  {
    name: 'makes nothing while JetStream is unknown',
    seen: { depth: 'unknown', jobs: jobs('serving', 2) },
    policy: { spares: 3 },
    want: {
      create: 0,
      wanted: 2,
      reason: 'backlog-unknown',
      state: { canStart: true, forMs: 5000, reason: 'backlog-unknown' },
    },
  },
  {
    name: 'makes one for each capture that waits',
    seen: { depth: waiting(3) },
    want: { create: 3, wanted: 3, reason: 'backlog' },
  },
  {
    name: 'counts what a worker holds that is not known to serve',
    seen: { depth: waiting(0, 2) },
    want: { create: 2, reason: 'backlog' },
  },
  {
    name: 'makes none for what Jobs serve',
    seen: { depth: waiting(0, 4), jobs: jobs('serving', 4) },
    want: { create: 0, wanted: 4, reason: 'steady' },
  },
  {
    name: 'makes none for captures that Jobs will take, whether these come, wait, or are about to go',
    seen: { depth: waiting(3), jobs: [...jobs('coming', 1), ...jobs('idle', 1), ...jobs('leaving', 1)] },
    want: { create: 0, wanted: 3, reason: 'starting' },
  },
  {
    name: 'does not count Jobs that have served, or are lost, as help',
    seen: { depth: waiting(2), jobs: [...jobs('spent', 3), ...jobs('lost', 1)] },
    want: { create: 2, wanted: 2, reason: 'backlog' },
  },
  {
    name: 'never has more unfinished Jobs than the maximum, those that have served among them',
    seen: { depth: waiting(50, 4), jobs: [...jobs('serving', 4), ...jobs('spent', 4)] },
    want: { create: 2, wanted: 10, reason: 'at-maximum' },
  },
  {
    name: 'makes none beyond the maximum where it was lowered',
    seen: { depth: waiting(50), jobs: jobs('spent', 12) },
    want: { create: 0, wanted: 10, reason: 'at-maximum' },
  },
  {
    name: 'keeps spares',
    seen: { jobs: jobs('idle', 1) },
    policy: { spares: 3 },
    want: { create: 2, wanted: 3, reason: 'buffer' },
  },
  {
    name: 'keeps spares on top of what waits',
    seen: { depth: waiting(1, 1), jobs: [...jobs('idle', 2), ...jobs('serving', 1)] },
    policy: { spares: 2 },
    want: { create: 1, wanted: 4, reason: 'buffer' },
  },
  {
    name: 'keeps its spares where fewer captures are held than Jobs were heard to serve',
    seen: { depth: waiting(0), jobs: [...jobs('serving', 2), ...jobs('idle', 1)] },
    policy: { spares: 1 },
    want: { create: 0, wanted: 3, reason: 'steady' },
  },
  {
    name: 'says so when nothing is to be done',
    seen: {},
    want: { create: 0, wanted: 0, reason: 'steady', state: { canStart: true, forMs: 5000, reason: 'steady' } },
  },
  {
    name: 'passes claims on, also while it makes nothing',
    seen: { depth: 'unknown', claims: [{ job: 'serving-0', captureId: 'c' }] },
    want: { claims: [{ job: 'serving-0', captureId: 'c' }] },
  },
  {
    name: 'takes a Job that is stuck for a trouble, and waits a second before it tries again',
    seen: { depth: waiting(4), jobs: stuck(2, 0) },
    want: {
      create: 0,
      reason: 'image-pull',
      trouble: pull,
      state: { canStart: false, forMs: 0, reason: 'image-pull' },
    },
  },
  {
    name: 'makes none on top of stuck Jobs for the same captures',
    seen: { depth: waiting(2), jobs: stuck(2, 9000) },
    memory: troubled,
    want: { create: 0, reason: 'image-pull', state: { canStart: false, forMs: 9000, reason: 'image-pull' } },
  },
  {
    name: 'tries one when its time has come',
    seen: { depth: waiting(9), jobs: stuck(2, 9000) },
    memory: troubled,
    want: { create: 1, reason: 'image-pull' },
  },
  {
    name: 'tries none while another is on its way',
    seen: { depth: waiting(9), jobs: [...stuck(2, 9000), ...jobs('coming', 1)] },
    memory: troubled,
    want: { create: 0, reason: 'image-pull' },
  },
  {
    name: 'tries none before its time',
    seen: { depth: waiting(9) },
    memory: { ...troubled, retryAtMs: nowMs + 1 },
    want: { create: 0, reason: 'image-pull' },
  },
  {
    name: 'does not try beyond the maximum',
    seen: { depth: waiting(90), jobs: stuck(10, 9000) },
    memory: troubled,
    want: { create: 0, reason: 'image-pull' },
  },
  {
    name: 'takes a Job that failed before its claim for a trouble',
    seen: { depth: waiting(2), starts: { ready: 0, failed: 1, last: { why: 'crash-looping', message: 'x' } } },
    want: { create: 0, reason: 'crash-looping', trouble: { why: 'crash-looping', message: 'x' } },
  },
  {
    name: 'is out of its trouble as soon as a Job comes up',
    seen: { depth: waiting(3), starts: { ready: 1, failed: 0, last: undefined } },
    memory: troubled,
    want: { create: 3, reason: 'backlog', trouble: undefined, state: { canStart: true, forMs: 0, reason: 'backlog' } },
  },
  {
    name: 'does not take a failure for a trouble while others come up',
    seen: { depth: waiting(3), starts: { ready: 5, failed: 3, last: { why: 'crash-looping', message: 'x' } } },
    want: { create: 3, trouble: undefined },
  },
  {
    name: 'is not held up by a Job that is stuck since before another came up',
    seen: { depth: waiting(4), jobs: stuck(1, 30_000) },
    memory: { ...calm, readyAtMs: nowMs - 10_000 },
    want: { create: 3, reason: 'backlog', trouble: undefined },
  },
  {
    name: 'is held up by a Job that got stuck after the last one came up',
    seen: { depth: waiting(4), jobs: stuck(1, 5000) },
    memory: { ...calm, readyAtMs: nowMs - 10_000 },
    want: { create: 0, reason: 'image-pull' },
  },
  {
    name: 'gives up a Job that has been stuck on its node for more than a minute, which counts until it has ended',
    seen: { depth: waiting(1), jobs: stuck(1, 60_001) },
    memory: calm,
    want: { create: 0, giveUp: ['stuck-0'] },
  },
  {
    name: 'leaves a Job for three minutes more whose node may still fetch its image',
    seen: { depth: waiting(1), jobs: stuck(1, 180_000, { why: 'not-starting' }) },
    memory: calm,
    want: { create: 0, giveUp: [] },
  },
  {
    name: 'gives up a Job that its node does not start for longer',
    seen: { depth: waiting(1), jobs: stuck(1, 180_001, { why: 'not-starting' }) },
    memory: calm,
    want: { create: 0, giveUp: ['stuck-0'] },
  },
  {
    name: 'leaves a Job alone that waits for room on any node',
    seen: { depth: waiting(1), jobs: stuck(1, 600_000, { why: 'unschedulable' }) },
    memory: { ...troubled, readyAtMs: Number.NEGATIVE_INFINITY },
    want: { create: 0, giveUp: [], reason: 'unschedulable' },
  },
  {
    name: 'gives up stuck Jobs that are made of what is not wanted any more, and forgets their trouble',
    seen: { depth: waiting(1), jobs: stuck(1, 5000, { why: 'unschedulable', revision: 'old' }) },
    memory: { ...troubled, revision: 'old' },
    want: { create: 0, giveUp: ['stuck-0'], trouble: undefined, state: { canStart: true, forMs: 0, reason: 'steady' } },
  },
  {
    name: 'keeps Jobs of an older template that work',
    seen: {
      depth: waiting(0, 1),
      jobs: [...jobs('serving', 1, { revision: 'old' }), ...jobs('idle', 1, { revision: 'old' })],
    },
    policy: { spares: 1 },
    want: { create: 0, giveUp: [], reason: 'steady' },
  },
  {
    name: 'tries a quota at once where a Job has ended',
    seen: { depth: waiting(5), jobs: jobs('spent', 2) },
    memory: { ...troubled, trouble: { why: 'quota', message: 'x' }, retryAtMs: nowMs + 50_000, unfinished: 3 },
    want: { create: 1, reason: 'quota' },
  },
]

for (const { name, want, ...given } of cases) {
  t.test(name, (t) => {
    const { decision } = decideProxied(seen(given.seen), { ...policy, ...given.policy }, given.memory ?? calm)
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
    const next = decideProxied(seen({ nowMs: atMs, depth: waiting(1) }), policy, memory)
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
    seen({ nowMs: nowMs + ms, jobs: stuck(1, 9000), ...given })
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
