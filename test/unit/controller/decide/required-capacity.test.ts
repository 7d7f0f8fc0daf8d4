import t from 'tap'
import {
  type Backlog,
  emptyBacklog as quiet,
  type LaneBacklog,
  noOtherPools,
  type ObservedWorker,
  type PoolPolicy,
} from '#controller/decide/pool.ts'
import { type Demand, requiredCapacity } from '#controller/decide/required-capacity.ts'
import {
  attributeToInteractive,
  constantLoad,
  otherPools,
  poolPolicy,
  observedWorker,
} from '#test/helpers/observed-pool.ts'

const policy = poolPolicy({ min: 0, max: 100, slots: 2 })
const worker = (given: Partial<ObservedWorker> = {}) => observedWorker('worker-1', { slots: 2, ...given })
const workers = (count: number, given: Partial<ObservedWorker> = {}) =>
  Array.from({ length: count }, () => worker(given))

const none: LaneBacklog = { pending: 0, processing: 0, oldestMs: 0, accepted: 0 }
/** The ledger's counts, all of lane `bulk`. */
const batch = (given: Partial<LaneBacklog>): Backlog => {
  const bulk = { ...none, ...given }
  return { ...bulk, atMs: 0, lanes: { interactive: none, normal: none, bulk } }
}
/** The ledger's counts, all of lane `interactive`. */
const counts = (given: Partial<LaneBacklog>): Backlog =>
  attributeToInteractive({ pending: 0, processing: 0, oldestMs: 0, ...given }, 0)
/** Eight captures run and 20 wait, none of which has ended for a minute. */
const slowPages = counts({ pending: 20, processing: 8, oldestMs: 60_000 })
const cases: {
  name: string
  demand: Partial<Demand>
  policy?: Partial<PoolPolicy>
  want: Pick<ReturnType<typeof requiredCapacity>, 'workers' | 'reason'>
}[] = [
  { name: 'needs no workers without work', demand: {}, want: { workers: 0, reason: 'load' } },
  {
    name: 'needs the buffer without work',
    demand: {},
    policy: { buffer: 1 },
    want: { workers: 1, reason: 'buffer' },
  },
  {
    name: 'needs the slots that the load keeps busy, and as many more as let 99 % begin in a quarter of the objective',
    // Erlang's C formula: of 7 slots 3 % would wait longer than 0.5 s, of 8 slots 0.8 %.
    demand: {
      load: constantLoad({ interactive: 4 }),
      backlog: counts({ processing: 8 }),
      active: workers(4, { busy: 2 }),
      busy: 8,
    },
    want: { workers: 4, reason: 'load' },
  },
  {
    name: 'needs nothing for captures that are on their way to a free slot',
    demand: { backlog: counts({ pending: 6, processing: 4 }), active: workers(10), busy: 10, startMs: 60_000 },
    want: { workers: 5, reason: 'load' },
  },
  {
    name: 'adds the buffer to the load',
    demand: {
      load: constantLoad({ interactive: 2 }),
      backlog: counts({ processing: 6 }),
      active: workers(3, { busy: 2 }),
      busy: 6,
    },
    policy: { buffer: 1 },
    want: { workers: 4, reason: 'load' },
  },
  {
    name: 'scales from zero directly to the size that the backlog requires',
    demand: { backlog: counts({ pending: 40 }) },
    // 40 slot-seconds, of which a worker serves 2 x 2 within the objective.
    want: { workers: 10, reason: 'backlog' },
  },
  {
    name: 'never needs more than one slot for each known capture',
    demand: { backlog: counts({ pending: 3 }), serviceMs: 600_000 },
    want: { workers: 2, reason: 'backlog' },
  },
  {
    name: 'counts what starting workers will serve in time',
    demand: { backlog: counts({ pending: 40 }), active: workers(10, { state: 'starting', ageMs: 0 }), startMs: 5000 },
    want: { workers: 1, reason: 'load' },
  },
  {
    name: 'keeps all workers while a capture has waited longer than the objective, since they will serve it',
    demand: {
      backlog: counts({ pending: 22, processing: 2, oldestMs: 10_000 }),
      active: [worker({ busy: 2 }), worker()],
      busy: 2,
      startMs: 40_000,
    },
    want: { workers: 2, reason: 'backlog' },
  },
  {
    name: 'includes the buffer in the workers kept for a late capture',
    demand: {
      backlog: counts({ pending: 22, processing: 2, oldestMs: 10_000 }),
      active: workers(5),
      busy: 2,
      startMs: 40_000,
    },
    policy: { buffer: 2 },
    want: { workers: 5, reason: 'backlog' },
  },
  {
    name: 'adds a quarter of the pool while captures wait for far longer than by their estimate, since none has ended',
    demand: {
      backlog: slowPages,
      active: workers(4, { busy: 2 }),
      busy: 8,
      serviceMs: 400,
    },
    want: { workers: 5, reason: 'backlog' },
  },
  {
    name: 'adds no more for them until those have started',
    demand: {
      backlog: slowPages,
      active: [...workers(4, { busy: 2 }), worker({ state: 'starting', ageMs: 0 })],
      busy: 8,
      serviceMs: 400,
    },
    want: { workers: 5, reason: 'backlog' },
  },
  {
    name: 'counts unscheduled workers like the new ones that would replace them',
    demand: {
      backlog: counts({ pending: 40 }),
      active: workers(10, { state: 'unscheduled', ageMs: 0 }),
      startMs: 5000,
    },
    want: { workers: 1, reason: 'load' },
  },
  {
    name: 'counts starting workers less, the longer their start will still take',
    demand: {
      backlog: counts({ pending: 40 }),
      active: workers(5, { state: 'starting', ageMs: 1000 }),
      startMs: 6000,
    },
    // 40 s less 5 x 2 x 3 s is 10 s: three more workers of 2 x 2 s.
    want: { workers: 8, reason: 'backlog' },
  },
  {
    name: 'needs no more workers if the present ones serve the backlog before a new one could start',
    demand: { backlog: counts({ pending: 8 }), active: workers(2), startMs: 3000 },
    want: { workers: 1, reason: 'load' },
  },
  {
    name: 'keeps the workers occupied by running captures',
    demand: { backlog: counts({ processing: 5 }), active: workers(3, { busy: 2 }), busy: 5 },
    want: { workers: 3, reason: 'load' },
  },
  {
    name: 'counts captures that so far only JetStream has counted',
    demand: { depth: { waiting: 1, inFlight: 0 } },
    want: { workers: 1, reason: 'backlog' },
  },
  {
    name: 'treats captures as waiting if the ledger counts them as begun but no worker serves them',
    demand: { backlog: counts({ processing: 40 }) },
    want: { workers: 10, reason: 'backlog' },
  },
  {
    name: "uses the workers' own number of slots",
    demand: { backlog: counts({ pending: 80 }), active: [worker({ slots: 8 })], startMs: 0 },
    // 80 s less 16 s by the present worker: four more of 16 s.
    want: { workers: 5, reason: 'backlog' },
  },
  {
    name: 'needs no workers for captures that other workers serve or have free slots for',
    demand: {
      load: constantLoad({ interactive: 1 }),
      backlog: counts({ pending: 2, processing: 3 }),
      otherPools: otherPools(5, 3),
    },
    want: { workers: 0, reason: 'load' },
  },
  {
    name: 'needs only the slots that other workers lack for the load',
    // 8 slots in all, of which others have 2.
    demand: {
      load: constantLoad({ interactive: 4 }),
      backlog: counts({ processing: 8 }),
      active: [worker({ busy: 2 }), worker({ busy: 2 }), worker()],
      busy: 4,
      otherPools: otherPools(2, 2),
    },
    want: { workers: 3, reason: 'load' },
  },
  {
    name: 'needs what other workers lack for the load although they have more slots than it may have',
    // 8 slots in all, of which others have 6; its maximum is 4.
    demand: {
      load: constantLoad({ interactive: 4 }),
      backlog: counts({ processing: 6 }),
      otherPools: otherPools(6, 6),
    },
    policy: { max: 2 },
    want: { workers: 1, reason: 'load' },
  },
  {
    name: 'counts what other workers will serve of a backlog in time',
    demand: { backlog: counts({ pending: 40 }), otherPools: otherPools(4, 0) },
    // 40 s less 4 x 5 s by the others: five more of 2 x 2 s.
    want: { workers: 5, reason: 'backlog' },
  },
  {
    name: 'treats captures as waiting if neither its own nor other workers serve them',
    demand: { backlog: counts({ processing: 24 }), otherPools: otherPools(4, 4) },
    // 20 s, and half of the 4 s that run, less 4 x 5 s by the others: one worker of 4 s.
    want: { workers: 1, reason: 'backlog' },
  },
  {
    name: 'adds a buffer of several to the requirement, even for one capture',
    demand: { backlog: counts({ pending: 1 }) },
    policy: { buffer: 5 },
    want: { workers: 6, reason: 'backlog' },
  },
  {
    name: 'needs no new worker for a capture that the present one begins within the objective',
    demand: { backlog: counts({ pending: 1, processing: 1 }), active: [worker({ slots: 1, busy: 1 })], busy: 1 },
    want: { workers: 1, reason: 'load' },
  },
  {
    name: 'uses idle cores for waiting captures, at most one slot each',
    demand: { backlog: counts({ pending: 1, processing: 1 }), active: [worker({ slots: 1, busy: 1 })], busy: 1 },
    policy: { idleCores: 8 },
    want: { workers: 2, reason: 'backlog' },
  },
  {
    name: 'uses no more cores than are idle',
    demand: { backlog: counts({ pending: 6, processing: 1 }), active: [worker({ slots: 1, busy: 1 })], busy: 1 },
    policy: { idleCores: 2, objectivesMs: { interactive: 60_000, normal: 60_000, bulk: 120_000 } },
    want: { workers: 2, reason: 'backlog' },
  },
  {
    name: 'uses no idle core without waiting captures',
    demand: { backlog: counts({ processing: 1 }), active: [worker({ slots: 1, busy: 1 })], busy: 1 },
    policy: { idleCores: 8 },
    want: { workers: 1, reason: 'load' },
  },
  {
    name: 'spreads a batch over its objective',
    demand: { backlog: batch({ pending: 600 }) },
    // 600 s within 120 s, the first 3 s of which a new worker starts.
    want: { workers: 3, reason: 'backlog' },
  },
  {
    name: 'spreads a batch that is late over a quarter of its objective',
    demand: { backlog: batch({ pending: 600, oldestMs: 600_000 }) },
    // 600 s within 30 s.
    want: { workers: 12, reason: 'backlog' },
  },
  {
    name: 'counts only the slots that serve batches for a batch',
    demand: { backlog: batch({ pending: 600 }), active: workers(2) },
    policy: { reservedSlots: 1 },
    // Two workers serve 240 s of 600 s: four more, of 117 s each.
    want: { workers: 6, reason: 'backlog' },
  },
  {
    name: 'needs a worker for each capture of a batch if all but one of its slots are reserved',
    demand: { backlog: batch({ pending: 3 }), serviceMs: 600_000 },
    policy: { reservedSlots: 1 },
    want: { workers: 3, reason: 'backlog' },
  },
  {
    name: 'needs workers for captures of a batch that wait beside others of it that run',
    demand: {
      backlog: batch({ pending: 3, processing: 3 }),
      active: workers(3, { busy: 1 }),
      busy: 3,
      serviceMs: 600_000,
    },
    policy: { reservedSlots: 1 },
    // 1800 s, and half of the 1800 s that run, less 3 x 603 s by the present workers: two of 600 s.
    want: { workers: 5, reason: 'backlog' },
  },
  {
    name: 'staffs a load of batches with the slots that serve them',
    // One slot more than the load for an objective of 120 s.
    demand: { load: constantLoad({ bulk: 4 }), backlog: batch({}) },
    policy: { reservedSlots: 1 },
    want: { workers: 5, reason: 'load' },
  },
  {
    name: 'needs the reserved slots for other captures',
    demand: { backlog: counts({ pending: 40 }) },
    policy: { reservedSlots: 1 },
    want: { workers: 10, reason: 'backlog' },
  },
  {
    name: 'needs a worker for a batch beside reserved slots of other workers',
    demand: { backlog: batch({ pending: 1 }), otherPools: otherPools(1, 0, { slots: 0, busy: 0 }) },
    want: { workers: 1, reason: 'backlog' },
  },
  {
    name: 'needs a worker for a batch while other workers have only reserved slots free',
    demand: { backlog: batch({ pending: 1, processing: 1 }), otherPools: otherPools(2, 1, { slots: 1, busy: 1 }) },
    want: { workers: 1, reason: 'load' },
  },
  {
    name: 'needs no worker for a batch that a slot of other workers will serve',
    demand: { backlog: batch({ pending: 1 }), otherPools: otherPools(2, 0, { slots: 1, busy: 0 }) },
    want: { workers: 0, reason: 'load' },
  },
  {
    name: 'needs no worker for a caller whom a reserved slot of other workers will serve',
    demand: { backlog: counts({ pending: 1 }), otherPools: otherPools(1, 0, { slots: 0, busy: 0 }) },
    want: { workers: 0, reason: 'load' },
  },
  {
    name: 'staffs a load of batches without the reserved slots of other workers',
    // One slot more than the load, of which others have one.
    demand: {
      load: constantLoad({ bulk: 4 }),
      backlog: batch({}),
      otherPools: otherPools(8, 1, { slots: 1, busy: 1 }),
    },
    want: { workers: 2, reason: 'load' },
  },
  {
    name: 'counts batches that run in slots of other workers as theirs',
    demand: {
      backlog: {
        ...counts({ processing: 16 }),
        lanes: { interactive: { ...none, processing: 8 }, normal: none, bulk: { ...none, processing: 8 } },
      },
      active: workers(2, { slots: 4, busy: 4 }),
      busy: 8,
      otherPools: otherPools(8, 8, { slots: 8, busy: 8 }),
    },
    policy: { slots: 4, reservedSlots: 3 },
    want: { workers: 2, reason: 'load' },
  },
  {
    name: 'assumes three seconds for start and service until they are measured',
    demand: { backlog: counts({ pending: 20 }), active: [worker()], startMs: undefined, serviceMs: undefined },
    // 60 s less 2 x 6 s by the present worker: eight more of 2 x 3 s.
    want: { workers: 9, reason: 'backlog' },
  },
]

/** A demand that is quiet but for what is given. */
const complete = (demand: Partial<Demand>): Demand => ({
  backlog: quiet,
  load: undefined,
  depth: 'unknown',
  active: [],
  busy: 0,
  peak: 1000,
  otherPools: noOtherPools,
  startMs: 3000,
  serviceMs: 1000,
  laneServiceMs: {},
  ...demand,
})

for (const { name, demand, policy: changes, want } of cases) {
  t.test(`required capacity: ${name}`, (t) => {
    const { workers: required, reason } = requiredCapacity(complete(demand), { ...policy, ...changes })
    t.strictSame({ workers: required, reason }, want)
    t.end()
  })
}

t.test('required capacity: holds what runs as far as chance explains it, with a buffer all of it', (t) => {
  const loadOf = (busy: number, changes: Partial<PoolPolicy> = {}) => {
    const demand = { load: constantLoad({ interactive: 4 }), backlog: counts({ processing: busy }), busy }
    return requiredCapacity(complete(demand), { ...policy, ...changes }).load
  }
  // Staffed with 4 workers of two slots; three standard deviations are 8.5 slots.
  t.strictSame(
    [8, 14, 30].map((busy) => loadOf(busy)),
    [4, 7, 9],
  )
  t.equal(loadOf(30, { buffer: 1 }), 16)
  t.end()
})
