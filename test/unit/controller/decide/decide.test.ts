import t from 'tap'
import { decide } from '#controller/decide/decide.ts'
import {
  blankMemory,
  type Decision,
  type Observation,
  type PoolMemory,
  emptyBacklog as quiet,
  type PoolPolicy,
  type ObservedWorker,
  workerStates,
} from '#controller/decide/pool.ts'
import { seededRandom } from '#cli/simulation/random.ts'
import {
  constantLoad,
  justStarted as starting,
  otherPools,
  poolPolicy,
  observedWorkers as groups,
  observedPool as observed,
  observedWorker as worker,
  stuckWorkers as stuckOnes,
} from '#test/helpers/observed-pool.ts'

const [{ nowMs }, policy] = [observed(), poolPolicy()]
const calm: PoolMemory = { ...blankMemory, wants: [{ atMs: nowMs - 1000, size: 0 }] }
type Case = {
  name: string
  observation: Partial<Observation>
  policy?: Partial<PoolPolicy>
  memory?: Partial<PoolMemory>
  want: Decision
}

const cases: Case[] = [
  {
    name: 'freezes at the last required size when the list of workers is unknown',
    observation: { workers: 'unknown' },
    memory: { wants: [{ atMs: nowMs - 1000, size: 3 }] },
    want: { kind: 'freeze', desired: 3, reason: 'workers-unknown' },
  },
  {
    name: 'holds the pool when the backlog is unknown',
    observation: { backlog: 'unknown', depth: { waiting: 0, inFlight: 1 }, workers: groups(5) },
    want: { kind: 'freeze', desired: 5, reason: 'backlog-unknown' },
  },
  {
    name: 'scales up by the depth of JetStream when the backlog is unknown',
    observation: { backlog: 'unknown', depth: { waiting: 14, inFlight: 0 } },
    policy: { min: 0 },
    want: { kind: 'scale-up', to: 7, undrain: [], desired: 7, reason: 'backlog' },
  },
  {
    name: 'changes nothing while paused',
    observation: {
      backlog: { ...quiet, pending: 500 },
      workers: [worker('w1'), worker('w2', { silentMs: 99_000 }), worker('w3', { state: 'drained' })],
    },
    policy: { isPaused: true, min: 5 },
    want: { kind: 'freeze', desired: 1, reason: 'paused' },
  },
  {
    name: 'a pause takes precedence over unknown reads',
    observation: { workers: 'unknown', backlog: 'unknown' },
    policy: { isPaused: true },
    memory: { wants: [{ atMs: nowMs - 1000, size: 3 }] },
    want: { kind: 'freeze', desired: 3, reason: 'paused' },
  },
  {
    name: 'does not start workers for captures that draining workers still serve',
    // Two wait; four run in workers that take no more. If these four counted as waiting, six would be required.
    observation: {
      backlog: { ...quiet, pending: 2, processing: 4 },
      workers: [worker('idle'), ...groups(4, { state: 'draining', busy: 1 })],
      serviceMs: 10_000,
    },
    want: { kind: 'scale-up', to: 5, undrain: ['w1', 'w2', 'w3'], desired: 4, reason: 'load' },
  },
  {
    name: 'scales up to a fixed size when the backlog is unknown',
    observation: { backlog: 'unknown', workers: groups(1) },
    policy: { size: 3, min: 0, max: 2 },
    want: { kind: 'scale-up', to: 3, undrain: [], desired: 3, reason: 'fixed' },
  },
  {
    name: 'stays at a fixed size, whatever the backlog',
    observation: { backlog: { ...quiet, pending: 500 }, workers: groups(3) },
    policy: { size: 3 },
    want: { kind: 'hold', desired: 3, reason: 'fixed' },
  },
  {
    name: 'drains to a fixed size without a hold window',
    observation: { backlog: 'unknown', workers: groups(3) },
    policy: { size: 2, holdMs: 3_600_000 },
    memory: { wants: undefined, loads: undefined },
    want: { kind: 'drain', pods: ['w1'], desired: 2, reason: 'excess' },
  },
  {
    name: 'stops drained workers above a fixed size',
    observation: { backlog: 'unknown', workers: [worker('w1', { state: 'drained' })] },
    policy: { size: 0, zeroAfterMs: 600_000 },
    memory: { lastKnownMs: nowMs },
    want: { kind: 'stop', pods: ['w1'], desired: 0, reason: 'drained' },
  },
  {
    name: 'drains the last worker of a fixed size of zero at once',
    observation: { workers: groups(1) },
    policy: { size: 0, min: 0, zeroAfterMs: 600_000 },
    memory: { lastKnownMs: nowMs - 1 },
    want: { kind: 'drain', pods: ['w1'], desired: 0, reason: 'excess' },
  },
  {
    name: 'never replaces a starting worker if the limit is infinite',
    observation: { workers: [worker('w1', { ...starting, ageMs: 9_000_000, silentMs: 9_000_000 })] },
    policy: { startLimitMs: Infinity, startMaxMs: Infinity },
    want: { kind: 'hold', desired: 1, reason: 'steady' },
  },
  {
    name: 'ignores the silence of stuck workers',
    observation: { workers: [worker('w1'), ...stuckOnes(5, { silentMs: 99_000 })] },
    policy: { min: 6 },
    want: { kind: 'hold', desired: 6, reason: 'unschedulable' },
  },
  {
    name: 'freezes when most of the workers that are not stuck are silent',
    observation: {
      workers: [worker('w1'), ...['w2', 'w3'].map((pod) => worker(pod, { silentMs: 11_000 })), ...stuckOnes(5)],
    },
    want: { kind: 'freeze', desired: 1, reason: 'missing-heartbeats' },
  },
  {
    name: 'stops no stuck worker when the backlog is unknown',
    observation: { backlog: 'unknown', workers: [worker('w1'), ...stuckOnes(4)] },
    policy: { min: 3 },
    want: { kind: 'hold', desired: 3, reason: 'unschedulable' },
  },
  {
    name: 'requires no workers for captures that other workers serve',
    observation: { backlog: { ...quiet, pending: 2, processing: 3 }, otherPools: otherPools(5, 3) },
    policy: { min: 0 },
    want: { kind: 'hold', desired: 0, reason: 'steady' },
  },
  {
    name: 'adds a buffer of several to the load',
    observation: { backlog: { ...quiet, processing: 2 }, workers: groups(2, { busy: 1 }) },
    policy: { buffer: 3 },
    want: { kind: 'scale-up', to: 5, undrain: [], desired: 5, reason: 'load' },
  },
  {
    name: 'keeps drained workers when the backlog is unknown',
    observation: { backlog: 'unknown', workers: [worker('w1'), worker('w2', { state: 'drained' })] },
    want: { kind: 'freeze', desired: 1, reason: 'backlog-unknown' },
  },
  {
    name: 'starts the minimum even when the backlog is unknown',
    observation: { backlog: 'unknown' },
    policy: { min: 2 },
    want: { kind: 'scale-up', to: 2, undrain: [], desired: 2, reason: 'below-minimum' },
  },
  {
    name: 'starts a worker that is missing from the minimum',
    observation: { workers: groups(1) },
    policy: { min: 2 },
    want: { kind: 'scale-up', to: 2, undrain: [], desired: 2, reason: 'below-minimum' },
  },
  {
    name: 'freezes when most of several workers fall silent at once',
    observation: { workers: [worker('w1'), ...['w2', 'w3'].map((pod) => worker(pod, { silentMs: 11_000 }))] },
    want: { kind: 'freeze', desired: 1, reason: 'missing-heartbeats' },
  },
  {
    name: 'replaces one of several silent workers after thirty seconds',
    observation: { workers: [...groups(2, { silentMs: 30_000 }), worker('w3', { silentMs: 31_000 })] },
    want: { kind: 'replace', pods: ['w3'], desired: 0, reason: 'lost' },
  },
  {
    name: 'replaces no other for ten seconds after a replacement',
    observation: { workers: [...groups(2, { silentMs: 40_000 }), worker('w3', { state: 'stopping' })] },
    memory: { lastReplaceMs: nowMs - 9999 },
    want: { kind: 'freeze', desired: 0, reason: 'missing-heartbeats' },
  },
  {
    name: 'replaces the next one after ten seconds, even if the previous one is still stopping',
    observation: { workers: [...groups(2, { silentMs: 40_000 }), worker('w3', { state: 'stopping' })] },
    memory: { lastReplaceMs: nowMs - 10_000 },
    want: { kind: 'replace', pods: ['w1'], desired: 0, reason: 'lost' },
  },
  {
    name: 'replaces no other while the replacement has not reported',
    observation: { workers: [...groups(1, { silentMs: 40_000 }), worker('w3', starting)] },
    want: { kind: 'freeze', desired: 1, reason: 'missing-heartbeats' },
  },
  {
    name: 'replaces all silent workers if as many report',
    observation: { workers: [...groups(2, { silentMs: 40_000 }), worker('w3'), worker('w4'), worker('w5', starting)] },
    want: { kind: 'replace', pods: ['w1', 'w2'], desired: 3, reason: 'lost' },
  },
  {
    name: 'replaces late starts even if other workers are silent',
    observation: {
      workers: [
        worker('w1', { ...starting, ageMs: 60_001, silentMs: 60_001 }),
        ...['w2', 'w3'].map((pod) => worker(pod, { silentMs: 40_000 })),
        worker('w4', { state: 'stopping' }),
      ],
    },
    memory: { lastReplaceMs: nowMs - 1 },
    want: { kind: 'replace', pods: ['w1'], desired: 0, reason: 'lost' },
  },
  {
    name: 'replaces a worker that is silent for more than ten seconds',
    observation: { workers: [worker('w1'), worker('w2', { silentMs: 10_001, busy: 1 })] },
    want: { kind: 'replace', pods: ['w2'], desired: 1, reason: 'lost' },
  },
  {
    name: 'replaces a worker that is starting for longer than its limit',
    observation: { workers: [worker('w1', { ...starting, ageMs: 60_001, silentMs: 60_001 })] },
    want: { kind: 'replace', pods: ['w1'], desired: 0, reason: 'lost' },
  },
  {
    name: 'does not count a stopping worker',
    observation: { workers: [worker('w1', { state: 'stopping', silentMs: 99_000 })] },
    want: { kind: 'scale-up', to: 1, undrain: [], desired: 1, reason: 'below-minimum' },
  },
  {
    name: 'scales directly to the size that the backlog requires',
    observation: { backlog: { ...quiet, pending: 14 }, workers: [] },
    policy: { min: 0 },
    want: { kind: 'scale-up', to: 7, undrain: [], desired: 7, reason: 'backlog' },
  },
  {
    name: 'scales up to the maximum at most, with the reason at-maximum',
    observation: { backlog: { ...quiet, pending: 500 }, workers: groups(1) },
    want: { kind: 'scale-up', to: 10, undrain: [], desired: 10, reason: 'at-maximum' },
  },
  {
    name: 'holds at the maximum with the reason at-maximum while more would be required',
    observation: { backlog: { ...quiet, pending: 500 }, workers: groups(10) },
    want: { kind: 'hold', desired: 10, reason: 'at-maximum' },
  },
  {
    name: 'follows the load',
    observation: { backlog: { ...quiet, processing: 2 }, workers: groups(2, { busy: 1 }) },
    memory: { load: constantLoad({ normal: 2 }), peaks: [{ atMs: nowMs - 1000, size: 5 }] },
    // Of 3 slots, 3.6 % would wait longer than 2.5 s, of 4 slots 0.1 %.
    want: { kind: 'scale-up', to: 4, undrain: [], desired: 4, reason: 'load' },
  },
  {
    name: 'waits a second after the first failed start',
    observation: { starts: { ready: 0, failed: 1 } },
    want: { kind: 'hold', desired: 1, reason: 'crash-looping' },
  },
  {
    name: 'does not count a starting worker as capacity while starts fail',
    observation: { workers: [worker('w1', starting)], starts: { ready: 0, failed: 5 } },
    memory: { starts: { ready: 0, failed: 5 }, failures: 3, retryAtMs: nowMs - 1 },
    want: { kind: 'hold', desired: 1, reason: 'crash-looping' },
  },
  {
    name: 'starts all missing workers once a start has succeeded',
    observation: { workers: groups(1), starts: { ready: 1, failed: 5 } },
    policy: { min: 3 },
    memory: { starts: { ready: 0, failed: 5 }, failures: 3, retryAtMs: nowMs + 60_000 },
    want: { kind: 'scale-up', to: 3, undrain: [], desired: 3, reason: 'below-minimum' },
  },
  {
    name: 'drops sizes older than the hold window',
    observation: { workers: groups(4) },
    memory: { wants: [{ atMs: nowMs - 30_000, size: 4 }] },
    want: { kind: 'drain', pods: ['w1'], desired: 1, reason: 'excess' },
  },
  {
    name: 'initialises the hold window with the current size',
    observation: { workers: groups(4) },
    memory: { wants: undefined },
    want: { kind: 'hold', desired: 1, reason: 'holding' },
  },
]

for (const { name, observation: given, policy: rules, memory, want } of cases) {
  t.test(`decide: ${name}`, async (t) => {
    const { decision } = decide(observed(given), { ...policy, ...rules }, { ...calm, ...memory })
    t.strictSame({ ...decision, estimate: 0 }, { ...want, estimate: 0 })
  })
}

t.test('decide: doubles the wait after each failed start, up to a minute', async (t) => {
  let memory = calm
  const waitsMs: number[] = []
  for (let failed = 1; failed <= 9; failed += 1) {
    memory = decide(observed({ starts: { ready: 0, failed } }), policy, memory).memory
    waitsMs.push(memory.retryAtMs - nowMs)
  }
  t.strictSame(waitsMs, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

t.test('decide: records when it replaced a worker, and when it drained', async (t) => {
  t.equal(decide(observed({ workers: groups(1, { silentMs: 11_000 }) }), policy, calm).memory.lastReplaceMs, nowMs)
  t.equal(decide(observed({ workers: groups(4) }), policy, calm).memory.lastDrainMs, nowMs)
  t.equal(decide(observed({ workers: groups(1) }), policy, calm).memory.lastDrainMs, Number.NEGATIVE_INFINITY)
})

t.test('decide: records at most one size for each size of the pool', async (t) => {
  let memory = blankMemory
  for (let tick = 0; tick < 1000; tick += 1) {
    const pending = (tick * 7) % 13
    memory = decide(observed({ nowMs: nowMs + tick, backlog: { ...quiet, pending } }), policy, memory).memory
  }
  t.ok((memory.wants ?? []).length <= policy.max + 1)
})

t.test('decide: a paused queue needs the minimum, also while its depth cannot be read', async (t) => {
  const at = (depth: Observation['depth'], memory = calm) =>
    decide(observed({ depth, backlog: { ...quiet, pending: 500 }, workers: groups(1) }), policy, memory)
  const paused = at({ waiting: 500, inFlight: 0, isPaused: true })
  for (const { decision } of [paused, at('unknown', paused.memory)])
    t.match(decision, { kind: 'hold', desired: 1, reason: 'queue-paused' })
  t.match(at({ waiting: 500, inFlight: 0 }, paused.memory).decision, { kind: 'scale-up' })
})

t.test('decide: after a pause, holds the size found during the pause', async (t) => {
  const paused = decide(observed({ workers: groups(6) }), { ...policy, isPaused: true }, calm).memory
  const later = observed({ nowMs: nowMs + 29_999, workers: groups(6) })
  t.match(decide(later, policy, paused).decision, { kind: 'hold', reason: 'holding' })
  t.match(decide({ ...later, nowMs: nowMs + 30_000 }, policy, paused).decision, { kind: 'drain' })
})

t.test('decide: idle time starts when a capture was last known, and at first if workers exist', async (t) => {
  const none = { ...policy, min: 0 }
  t.equal(decide(observed({ workers: groups(2) }), none, blankMemory).memory.lastKnownMs, nowMs)
  t.equal(decide(observed({ workers: [] }), none, blankMemory).memory.lastKnownMs, Number.NEGATIVE_INFINITY)
  const lastKnown = (given: Partial<Observation>) => decide(observed(given), none, calm).memory.lastKnownMs
  const backlog = { ...quiet, pending: 1 }
  const batches = { ...backlog, lanes: { ...quiet.lanes, bulk: { ...quiet.lanes.bulk, pending: 1 } } }
  const beside = { otherPools: otherPools(1, 0, { slots: 0, busy: 0 }) }
  const observations = [{ backlog }, { ...beside, backlog }, { ...beside, backlog: batches }]
  t.strictSame(observations.map(lastKnown), [nowMs, Number.NEGATIVE_INFINITY, nowMs], 'reserved slots serve no batch')
})

/** A random pool: any mix of workers, any backlog, any policy. */
const anything = (random: () => number): [Observation, PoolPolicy] => {
  const upTo = (most: number) => Math.floor(random() * (most + 1))
  const often = (chance: number) => random() < chance
  const workers = Array.from({ length: upTo(12) }, (_, index): ObservedWorker => {
    const state = workerStates[upTo(workerStates.length - 1)] ?? 'ready'
    const busy = state === 'ready' || state === 'draining' ? upTo(1) : 0
    const silentMs = often(0.05) ? 11_000 : 0
    return worker(`w${index}`, { state, busy, silentMs, ...(state === 'stuck' && { trouble: 'unschedulable' }) })
  })
  const backlog = { ...quiet, pending: upTo(30), processing: upTo(10) }
  const max = 1 + upTo(11)
  const refused = often(0.3) ? ({ count: 1 + upTo(3), trouble: 'quota' } as const) : undefined
  return [
    observed({
      workers,
      refused,
      backlog: often(0.1) ? 'unknown' : backlog,
      otherPools: otherPools(2, upTo(2), { slots: 1, busy: upTo(1) }),
      starts: { ready: 0, failed: upTo(1) },
    }),
    { ...policy, max, min: upTo(max), buffer: upTo(max), size: often(0.3) ? upTo(12) : 'by-queue' },
  ]
}

t.test('decide: keeps its invariants for random pools', async (t) => {
  const random = seededRandom(1)
  const broken: unknown[] = []
  const kinds = new Set<string>()
  for (let turn = 0; turn < 20_000; turn += 1) {
    const [now, rules] = anything(random)
    const wants = [{ atMs: nowMs - 1000, size: Math.floor(random() * 12) }]
    const { decision } = decide(now, rules, { ...blankMemory, wants })
    const workers = now.workers === 'unknown' ? [] : now.workers
    const inState = (...states: ObservedWorker['state'][]) =>
      workers.filter(({ state }) => states.includes(state)).map(({ pod }) => pod)
    const areIn = (pods: readonly string[], ...states: ObservedWorker['state'][]) =>
      new Set(pods).size === pods.length && pods.every((pod) => inState(...states).includes(pod))
    const requested = workers.length - inState('stopping').length + (now.refused?.count ?? 0)
    const isKept = {
      'scale-up': (of: Decision) =>
        of.kind === 'scale-up' &&
        of.to >= requested &&
        of.to <= Math.max(requested, of.desired) &&
        areIn(of.undrain, 'draining', 'drained'),
      drain: (of: Decision) =>
        of.kind === 'drain' &&
        areIn(of.pods, 'ready') &&
        inState('ready').length - of.pods.length >= of.desired &&
        inState('unscheduled', 'drained').length === 0,
      stop: (of: Decision) => of.kind === 'stop' && areIn(of.pods, 'unscheduled', 'stuck', 'drained'),
      replace: (of: Decision) => of.kind === 'replace' && areIn(of.pods, 'ready', 'draining', 'drained'),
      hold: () => true,
      freeze: () => true,
    }[decision.kind](decision)
    kinds.add(decision.kind)
    if (!isKept) broken.push({ decision, workers, rules })
  }
  t.strictSame(broken.slice(0, 3), [])
  t.equal(kinds.size, 6, 'every kind of decision occurred')
})
