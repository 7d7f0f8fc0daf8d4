import t from 'tap'
import { decide } from '#controller/decide.ts'
import {
  blankMemory,
  type Decision,
  type Observation,
  type PoolMemory,
  type PoolPolicy,
  type SeenWorker,
} from '#controller/pool.ts'

const nowMs = 1_000_000
const policy: PoolPolicy = {
  min: 1,
  max: 10,
  slots: 1,
  buffer: 0,
  queueWaitMs: 2000,
  holdMs: 30_000,
  drainStepMs: 5000,
}
const quiet = { pending: 0, processing: 0, arrivals10s: 0, oldestMs: 0 }
const calm: PoolMemory = { ...blankMemory, wants: [{ atMs: nowMs - 1000, size: 0 }] }

const seen = (given: Partial<Observation> = {}): Observation => ({
  nowMs,
  backlog: quiet,
  depth: 'unknown',
  workers: [],
  starts: { ready: 0, failed: 0 },
  startMs: 3000,
  serviceMs: 1000,
  ...given,
})

const worker = (pod: string, given: Partial<SeenWorker> = {}): SeenWorker => ({
  pod,
  state: 'ready',
  ageMs: 60_000,
  silentMs: 500,
  slots: 1,
  busy: 0,
  ...given,
})
const crew = (count: number, given: Partial<SeenWorker> = {}) =>
  Array.from({ length: count }, (_, index) => worker(`w${index + 1}`, given))
const starting = { state: 'starting', ageMs: 1000, silentMs: 0 } as const

type Case = {
  name: string
  seen: Partial<Observation>
  policy?: Partial<PoolPolicy>
  memory?: Partial<PoolMemory>
  want: Decision
}

const cases: Case[] = [
  {
    name: 'freezes at the last wanted size when the list of workers is unknown',
    seen: { workers: 'unknown' },
    memory: { wants: [{ atMs: nowMs - 1000, size: 3 }] },
    want: { kind: 'freeze', wanted: 3, reason: 'workers-unknown' },
  },
  {
    name: 'holds the pool when the backlog is unknown',
    seen: { backlog: 'unknown', depth: { waiting: 50, inFlight: 0 }, workers: crew(5) },
    want: { kind: 'freeze', wanted: 5, reason: 'backlog-unknown' },
  },
  {
    name: 'keeps drained workers when the backlog is unknown',
    seen: { backlog: 'unknown', workers: [worker('w1'), worker('w2', { state: 'drained' })] },
    want: { kind: 'freeze', wanted: 1, reason: 'backlog-unknown' },
  },
  {
    name: 'starts the minimum even when the backlog is unknown',
    seen: { backlog: 'unknown' },
    policy: { min: 2 },
    want: { kind: 'scale-up', to: 2, undrain: [], wanted: 2, reason: 'below-minimum' },
  },
  {
    name: 'replaces a worker that is missing from the minimum',
    seen: { workers: crew(1) },
    policy: { min: 2 },
    want: { kind: 'scale-up', to: 2, undrain: [], wanted: 2, reason: 'below-minimum' },
  },
  {
    name: 'freezes when most of several workers fall silent together',
    seen: { workers: [worker('w1'), ...['w2', 'w3'].map((pod) => worker(pod, { silentMs: 11_000 }))] },
    want: { kind: 'freeze', wanted: 1, reason: 'missing-heartbeats' },
  },
  {
    name: 'takes workers for lost that stay silent together for thirty seconds',
    seen: { workers: crew(2, { silentMs: 30_000 }) },
    want: { kind: 'stop', pods: ['w1', 'w2'], wanted: 0, reason: 'lost' },
  },
  {
    name: 'stops a worker that is silent for more than ten seconds',
    seen: { workers: [worker('w1'), worker('w2', { silentMs: 10_001, busy: 1 })] },
    want: { kind: 'stop', pods: ['w2'], wanted: 1, reason: 'lost' },
  },
  {
    name: 'stops a worker that is starting for more than a minute',
    seen: { workers: [worker('w1', { ...starting, ageMs: 60_001 })] },
    want: { kind: 'stop', pods: ['w1'], wanted: 0, reason: 'lost' },
  },
  {
    name: 'does not count a worker that was told to end',
    seen: { workers: [worker('w1', { state: 'stopping', silentMs: 99_000 })] },
    want: { kind: 'scale-up', to: 1, undrain: [], wanted: 1, reason: 'below-minimum' },
  },
  {
    name: 'goes straight to what the backlog needs',
    seen: { backlog: { ...quiet, pending: 14 }, workers: [] },
    policy: { min: 0 },
    want: { kind: 'scale-up', to: 7, undrain: [], wanted: 7, reason: 'backlog' },
  },
  {
    name: 'goes no higher than the maximum and says so',
    seen: { backlog: { ...quiet, pending: 500 }, workers: crew(1) },
    want: { kind: 'scale-up', to: 10, undrain: [], wanted: 10, reason: 'at-maximum' },
  },
  {
    name: 'says that the maximum is reached while more would be needed',
    seen: { backlog: { ...quiet, pending: 500 }, workers: crew(10) },
    want: { kind: 'hold', wanted: 10, reason: 'at-maximum' },
  },
  {
    name: 'follows the load',
    seen: { backlog: { ...quiet, processing: 4, arrivals10s: 20 }, workers: crew(2, { busy: 1 }) },
    // 2 busy slots and 2 in reserve, 4 captures known; the backlog term asks for less.
    want: { kind: 'scale-up', to: 4, undrain: [], wanted: 4, reason: 'load' },
  },
  {
    name: 'keeps the buffer',
    seen: { workers: [] },
    policy: { min: 0, buffer: 1 },
    want: { kind: 'scale-up', to: 1, undrain: [], wanted: 1, reason: 'buffer' },
  },
  {
    name: 'takes leaving workers back before it starts new ones',
    seen: {
      backlog: { ...quiet, pending: 8 },
      workers: [worker('w1', { state: 'draining', busy: 1 }), worker('w2', { state: 'drained' })],
    },
    policy: { min: 0 },
    want: { kind: 'scale-up', to: 4, undrain: ['w1', 'w2'], wanted: 4, reason: 'backlog' },
  },
  {
    name: 'starts nobody where leaving workers are enough',
    seen: { workers: [worker('w1', { state: 'drained' }), worker('w2', { state: 'drained' })] },
    want: { kind: 'scale-up', to: 2, undrain: ['w1'], wanted: 1, reason: 'below-minimum' },
  },
  {
    name: 'waits a second after the first failed start',
    seen: { starts: { ready: 0, failed: 1 } },
    want: { kind: 'hold', wanted: 1, reason: 'crash-looping' },
  },
  {
    name: 'tries one start at a time after the wait',
    seen: { backlog: { ...quiet, pending: 500 }, starts: { ready: 0, failed: 5 } },
    memory: { starts: { ready: 0, failed: 5 }, failures: 3, retryAtMs: nowMs },
    want: { kind: 'scale-up', to: 1, undrain: [], wanted: 10, reason: 'crash-looping' },
  },
  {
    name: 'waits for the one start that it tries',
    seen: { workers: [worker('w1', starting)], starts: { ready: 0, failed: 5 } },
    policy: { min: 3 },
    memory: { starts: { ready: 0, failed: 5 }, failures: 3, retryAtMs: nowMs - 1 },
    want: { kind: 'hold', wanted: 3, reason: 'crash-looping' },
  },
  {
    name: 'does not count a starting worker as capacity while starts fail',
    seen: { workers: [worker('w1', starting)], starts: { ready: 0, failed: 5 } },
    memory: { starts: { ready: 0, failed: 5 }, failures: 3, retryAtMs: nowMs - 1 },
    want: { kind: 'hold', wanted: 1, reason: 'crash-looping' },
  },
  {
    name: 'starts all again once a start succeeded',
    seen: { workers: crew(1), starts: { ready: 1, failed: 5 } },
    policy: { min: 3 },
    memory: { starts: { ready: 0, failed: 5 }, failures: 3, retryAtMs: nowMs + 60_000 },
    want: { kind: 'scale-up', to: 3, undrain: [], wanted: 3, reason: 'below-minimum' },
  },
  {
    name: 'stops exactly the drained workers',
    seen: {
      workers: [worker('w1'), worker('w2', { state: 'drained' }), worker('w3', { state: 'draining', busy: 1 })],
    },
    want: { kind: 'stop', pods: ['w2'], wanted: 1, reason: 'drained' },
  },
  {
    name: 'holds the right size',
    seen: { workers: crew(1) },
    want: { kind: 'hold', wanted: 1, reason: 'steady' },
  },
  {
    name: 'holds the largest size that was wanted within the window',
    seen: { workers: crew(4) },
    memory: { wants: [{ atMs: nowMs - 29_999, size: 4 }] },
    want: { kind: 'hold', wanted: 1, reason: 'holding' },
  },
  {
    name: 'drains what is more than the window wanted',
    seen: { workers: crew(4) },
    memory: { wants: [{ atMs: nowMs - 29_999, size: 3 }] },
    want: { kind: 'drain', pods: ['w1'], wanted: 1, reason: 'excess' },
  },
  {
    name: 'forgets sizes that are older than the window',
    seen: { workers: crew(4) },
    memory: { wants: [{ atMs: nowMs - 30_000, size: 4 }] },
    want: { kind: 'drain', pods: ['w1'], wanted: 1, reason: 'excess' },
  },
  {
    name: 'seeds the window with the size that it finds',
    seen: { workers: crew(4) },
    memory: { wants: undefined },
    want: { kind: 'hold', wanted: 1, reason: 'holding' },
  },
  {
    name: 'does not scale down while workers are starting',
    seen: { workers: [...crew(4), worker('w5', starting)] },
    want: { kind: 'hold', wanted: 1, reason: 'starting' },
  },
  {
    name: 'waits between two steps down',
    seen: { workers: crew(4) },
    memory: { lastDrainMs: nowMs - 4999 },
    want: { kind: 'hold', wanted: 1, reason: 'stepping' },
  },
  {
    name: 'takes a quarter of many workers in one step',
    seen: { workers: crew(9) },
    memory: { lastDrainMs: nowMs - 5000 },
    want: { kind: 'drain', pods: ['w1', 'w2'], wanted: 1, reason: 'excess' },
  },
  {
    name: 'drains idle workers first, the youngest of them before the others',
    seen: {
      workers: [
        worker('busy', { busy: 1 }),
        worker('old', { ageMs: 900_000 }),
        worker('young', { ageMs: 20_000 }),
        worker('middle', { ageMs: 60_000 }),
      ],
      backlog: { ...quiet, processing: 1 },
    },
    want: { kind: 'drain', pods: ['young'], wanted: 1, reason: 'excess' },
  },
]

for (const { name, seen: given, policy: rules, memory, want } of cases) {
  t.test(name, (t) => {
    t.strictSame(decide(seen(given), { ...policy, ...rules }, { ...calm, ...memory }).decision, want)
    t.end()
  })
}

t.test('doubles the wait after each failed start, up to a minute', (t) => {
  let memory = calm
  const waitsMs: number[] = []
  for (let failed = 1; failed <= 9; failed += 1) {
    memory = decide(seen({ starts: { ready: 0, failed } }), policy, memory).memory
    waitsMs.push(memory.retryAtMs - nowMs)
  }
  t.strictSame(waitsMs, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
  t.end()
})

t.test('starts a step down only when it drains', (t) => {
  t.equal(decide(seen({ workers: crew(4) }), policy, calm).memory.lastDrainMs, nowMs)
  t.equal(decide(seen({ workers: crew(1) }), policy, calm).memory.lastDrainMs, Number.NEGATIVE_INFINITY)
  t.end()
})

t.test('remembers no more sizes than the pool has', (t) => {
  let memory = blankMemory
  for (let tick = 0; tick < 1000; tick += 1) {
    const pending = (tick * 7) % 13
    memory = decide(seen({ nowMs: nowMs + tick, backlog: { ...quiet, pending } }), policy, memory).memory
  }
  t.ok((memory.wants ?? []).length <= policy.max + 1)
  t.end()
})
