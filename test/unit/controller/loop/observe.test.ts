import t from 'tap'
import type { ListedWorker, WorkerList } from '#controller/act/actuator.ts'
import type { ReceivedHeartbeat } from '#controller/loop/subscribe-to-pool.ts'
import { createObserver } from '#controller/loop/observe.ts'
import { type Depth, emptyBacklog as quiet, noOtherPools } from '#controller/decide/pool.ts'
import type { HeartbeatMessage } from '#shared/queue/messages.ts'

const never = new Promise<never>(() => {})

/** An observer whose clock, subscription and reads the test controls. */
const begin = () => {
  const heartbeats = new Map<string, ReceivedHeartbeat>()
  const world = {
    nowMs: 100_000,
    sinceMs: 0,
    workers: [] as ListedWorker[],
    invented: new Set<string>(),
    size: 'by-queue' as 'by-queue' | number,
    refused: undefined as WorkerList['refused'],
    list: async (): Promise<WorkerList> => ({
      workers: world.workers,
      starts: { ready: 1, failed: 2 },
      startMs: 3000,
      ...(world.refused && { refused: world.refused }),
    }),
    depth: async (): Promise<Depth> => ({ waiting: 1, inFlight: 2 }),
  }
  const observe = createObserver({
    subscription: {
      backlog: () => ({ ...quiet, pending: 7 }),
      heartbeats,
      listeningMs: (fromMs) => world.nowMs - Math.max(fromMs, world.sinceMs),
    },
    readDepth: () => world.depth(),
    actuator: { list: () => world.list() },
    now: () => world.nowMs,
    isWorker: (pod) => !world.invented.has(pod),
    policy: () => ({ size: world.size, slots: 4 }),
  })
  const heartbeat = (pod: string, given: Partial<HeartbeatMessage> = {}) =>
    heartbeats.set(pod, {
      heartbeat: { pod, pool: 'standard', pid: 1, slots: 2, busy: 0, state: 'ready', captures: [], ...given },
      atMs: world.nowMs,
    })
  return { world, observe, heartbeats, heartbeat }
}

const placed = (pod: string, given: Partial<ListedWorker> = {}): ListedWorker => ({
  pod,
  ageMs: 60_000,
  stopping: false,
  ...given,
})

t.test('observe: returns the time and all reads', async (t) => {
  const { observe, world } = begin()
  world.refused = { count: 2, trouble: 'quota' }
  t.strictSame(await observe(), {
    nowMs: 100_000,
    backlog: { ...quiet, pending: 7 },
    depth: { waiting: 1, inFlight: 2 },
    workers: [],
    otherPools: noOtherPools,
    refused: { count: 2, trouble: 'quota' },
    starts: { ready: 1, failed: 2 },
    startMs: 3000,
    serviceMs: undefined,
    laneServiceMs: {},
  })
})

t.test(
  'observe: failed and hanging reads are unknown, starts are kept, and a hanging read is not repeated',
  async (t) => {
    const { observe, world } = begin()
    await observe()
    let reads = 0
    world.depth = () => {
      reads += 1
      return never
    }
    world.list = () => Promise.reject(new Error('planted'))
    const first = await observe()
    const second = await observe()
    t.match(
      [first, second],
      Array.from({ length: 2 }, () => ({ depth: 'unknown', workers: 'unknown', otherPools: noOtherPools })),
    )
    t.strictSame(second.starts, { ready: 1, failed: 2 })
    t.equal(reads, 1)
  },
)

t.test('observe: joins the list of workers with their heartbeats', async (t) => {
  const { observe, world, heartbeat } = begin()
  world.workers = [
    placed('new', { ageMs: 1000 }),
    placed('up', { ageMs: 9000 }),
    placed('going', { ageMs: 9000, stopping: true, trouble: 'image-pull' }),
  ]
  heartbeat('up', { busy: 1, state: 'draining', serviceMs: 800 })
  heartbeat('going', { serviceMs: 1200 })
  heartbeat('foreign', { serviceMs: 5 })
  const { workers, serviceMs } = await observe()
  t.match(workers, [
    { pod: 'new', state: 'starting', ageMs: 1000, slots: 4, busy: 0 },
    { pod: 'up', state: 'draining', ageMs: 9000, slots: 2, busy: 1 },
    { pod: 'going', state: 'stopping' },
  ])
  t.equal(serviceMs, 1000)
})

t.test('observe: the service time of a lane is the median over workers, and kept while none has one', async (t) => {
  const { observe, world, heartbeat } = begin()
  world.workers = ['one', 'two', 'three', 'old'].map((pod) => placed(pod))
  heartbeat('one', { laneServiceMs: { interactive: 800, bulk: 3000 } })
  heartbeat('two', { laneServiceMs: { interactive: 1000, bulk: 5000 } })
  heartbeat('three', { laneServiceMs: { interactive: 90_000 } })
  heartbeat('old')
  t.strictSame((await observe()).laneServiceMs, { interactive: 1000, bulk: 4000 })
  heartbeat('one', { laneServiceMs: { interactive: 2000 } })
  heartbeat('two', { laneServiceMs: { interactive: 2000 } })
  t.strictSame((await observe()).laneServiceMs, { interactive: 2000, bulk: 4000 })
})

t.test('observe: a worker in trouble is stuck and idle, whatever its last heartbeat', async (t) => {
  const { observe, world, heartbeat } = begin()
  world.workers = [placed('pending', { trouble: 'unschedulable' }), placed('crashed', { trouble: 'crash-looping' })]
  heartbeat('crashed', { busy: 2 })
  t.match((await observe()).workers, [
    { pod: 'pending', state: 'stuck', trouble: 'unschedulable', busy: 0 },
    { pod: 'crashed', state: 'stuck', trouble: 'crash-looping', busy: 0 },
  ])
})

t.test('observe: keeps the measured service time when all workers are gone', async (t) => {
  const { observe, world, heartbeat } = begin()
  world.workers = [placed('up')]
  heartbeat('up', { serviceMs: 800 })
  await observe()
  world.workers = []
  t.equal((await observe()).serviceMs, 800)
})

t.test('observe: measures silence from the last heartbeat, and before the first from the start', async (t) => {
  const { observe, world, heartbeat } = begin()
  world.workers = [placed('up'), placed('mute', { ageMs: 3000 })]
  heartbeat('up')
  world.nowMs += 12_000
  t.match((await observe()).workers, [{ silentMs: 12_000 }, { silentMs: 3000 }])
  world.sinceMs = world.nowMs
  t.match((await observe()).workers, [{ silentMs: 0 }, { silentMs: 0 }], 'a gap in the subscription is not silence')
})

t.test('observe: keeps a listed worker that was silent for so long that its heartbeat expired', async (t) => {
  const { observe, world, heartbeat, heartbeats } = begin()
  world.workers = [placed('hung')]
  heartbeat('hung', { busy: 1 })
  await observe()
  heartbeats.clear()
  world.nowMs += 70_000
  t.match((await observe()).workers, [{ state: 'ready', silentMs: 70_000 }])
})

t.test('observe: counts the slots of other workers on the same queue', async (t) => {
  const { observe, world, heartbeat } = begin()
  world.workers = [placed('own')]
  heartbeat('own', { busy: 1 })
  heartbeat('ready', { slots: 4, busy: 3 })
  heartbeat('draining', { slots: 4, busy: 1, state: 'draining' })
  heartbeat('drained', { state: 'drained' })
  heartbeat('starting', { state: 'starting' })
  t.match((await observe()).otherPools, { slots: 5, busy: 4 })
  world.nowMs += 5001
  heartbeat('ready', { slots: 4, busy: 2 })
  t.match((await observe()).otherPools, { slots: 4, busy: 2 }, 'silent workers are not counted')
})

t.test('observe: counts the slots of other workers that serve batches, busy ones first', async (t) => {
  const { observe, heartbeat } = begin()
  heartbeat('earlier-release', { slots: 2, busy: 1 })
  heartbeat('reserving', { slots: 4, busy: 1, reservedSlots: 2 })
  heartbeat('all-busy', { slots: 4, busy: 4, reservedSlots: 3 })
  heartbeat('draining', { slots: 4, busy: 3, reservedSlots: 2, state: 'draining' })
  t.strictSame((await observe()).otherPools, { slots: 13, busy: 9, forBatches: { slots: 7, busy: 5 } })
})

t.test('observe: ignores the slots of a pod that does not exist', async (t) => {
  const { observe, world, heartbeat } = begin()
  world.invented.add('ghost')
  heartbeat('ghost', { slots: 16 })
  heartbeat('real', { slots: 2, busy: 1 })
  t.match((await observe()).otherPools, { slots: 2, busy: 1 })
})

t.test('observe: ignores other workers on the queue unless the queue decides the size', async (t) => {
  const { observe, world, heartbeat } = begin()
  heartbeat('other')
  world.size = 1
  t.strictSame((await observe()).otherPools, noOtherPools)
  world.size = 'by-queue'
  t.match((await observe()).otherPools, { slots: 2, busy: 0 })
})

t.test('observe: does not count its own deleted worker among the others', async (t) => {
  const { observe, world, heartbeat, heartbeats } = begin()
  world.workers = [placed('killed')]
  heartbeat('killed')
  await observe()
  world.workers = []
  t.strictSame((await observe()).otherPools, noOtherPools)
  heartbeats.delete('killed')
  await observe()
  heartbeat('killed')
  t.match((await observe()).otherPools, { slots: 2, busy: 0 }, 'only until its heartbeat expires')
})
