import t from 'tap'
import type { Placed, Roster } from '#controller/act/actuator.ts'
import { createObserver } from '#controller/observe.ts'
import type { Depth } from '#controller/pool.ts'
import type { Incoming } from '#shared/queue/connection.ts'
import { backlogCodec, type BacklogMessage, beatCodec, type BeatMessage } from '#shared/queue/messages.ts'
import { backlogSubject, beatFilter, beatSubject } from '#shared/queue/subjects.ts'

const quiet: BacklogMessage = { pool: 'standard', pending: 0, processing: 0, arrivals10s: 0, oldestMs: 0 }
const never = new Promise<never>(() => {})

/** An observer whose clock, messages and reads the test controls. */
const begin = () => {
  const subscribers = new Map<string, (message: Incoming) => void>()
  const malformed: string[] = []
  const world = {
    nowMs: 100_000,
    workers: [] as Placed[],
    roster: async (): Promise<Roster> => ({ workers: world.workers, starts: { ready: 1, failed: 2 }, startMs: 3000 }),
    depth: async (): Promise<Depth> => ({ waiting: 1, inFlight: 2 }),
  }
  const observer = createObserver(
    {
      queue: {
        subscribe: (filter, onMessage) => {
          subscribers.set(filter, onMessage)
          return { [Symbol.dispose]: () => void subscribers.delete(filter) }
        },
      },
      readDepth: () => world.depth(),
      actuator: { list: () => world.roster() },
      now: () => world.nowMs,
      malformed: (subject) => malformed.push(subject),
    },
    { pool: 'standard', slots: 4 },
  )
  const send = (filter: string, subject: string, data: Uint8Array) =>
    subscribers.get(filter)?.({ subject, data, reply: undefined, traceparent: undefined, statusCode: 0 })
  const beat = (pod: string, given: Partial<BeatMessage> = {}, from = pod) => {
    const message: BeatMessage = {
      pod,
      pool: 'standard',
      pid: 1,
      slots: 2,
      busy: 0,
      state: 'ready',
      captures: [],
      ...given,
    }
    send(beatFilter('standard'), beatSubject({ pool: 'standard', pod: from }), beatCodec.encode(message))
  }
  const backlog = (given: Partial<BacklogMessage> = {}) =>
    send(backlogSubject('standard'), backlogSubject('standard'), backlogCodec.encode({ ...quiet, ...given }))
  return { world, observer, subscribers, malformed, send, beat, backlog }
}

/** Lets time pass, with a backlog message every second. */
const pass = ({ world, backlog }: ReturnType<typeof begin>, seconds: number) => {
  for (let second = 0; second < seconds; second += 1) {
    world.nowMs += 1000
    backlog()
  }
}

t.test('stamps the time and reports what it read', async (t) => {
  const { observer, backlog } = begin()
  backlog({ pending: 7 })
  t.strictSame(await observer.observe(), {
    nowMs: 100_000,
    backlog: { ...quiet, pending: 7 },
    depth: { waiting: 1, inFlight: 2 },
    workers: [],
    starts: { ready: 1, failed: 2 },
    startMs: 3000,
    serviceMs: undefined,
  })
})

t.test('reports the backlog as unknown before the first message and five seconds after the last', async (t) => {
  const { observer, backlog, world } = begin()
  t.equal((await observer.observe()).backlog, 'unknown')
  backlog()
  world.nowMs += 5000
  t.strictSame((await observer.observe()).backlog, quiet)
  world.nowMs += 1
  t.equal((await observer.observe()).backlog, 'unknown')
})

t.test(
  'reports failed and hanging reads as unknown, keeps what it knew of starts, and does not repeat a hanging read',
  async (t) => {
    const { observer, world } = begin()
    await observer.observe()
    let reads = 0
    world.depth = () => {
      reads += 1
      return never
    }
    world.roster = () => Promise.reject(new Error('planted'))
    const first = await observer.observe()
    const second = await observer.observe()
    t.match(
      [first, second],
      Array.from({ length: 2 }, () => ({ depth: 'unknown', workers: 'unknown' })),
    )
    t.strictSame(second.starts, { ready: 1, failed: 2 })
    t.equal(reads, 1)
  },
)

t.test('joins the list of workers with their beats', async (t) => {
  const { observer, world, beat } = begin()
  world.workers = [
    { pod: 'new', ageMs: 1000, stopping: false },
    { pod: 'up', ageMs: 9000, stopping: false },
    { pod: 'going', ageMs: 9000, stopping: true },
  ]
  beat('up', { busy: 1, state: 'draining', serviceMs: 800 })
  beat('going', { serviceMs: 1200 })
  beat('foreign', { serviceMs: 5 })
  const { workers, serviceMs } = await observer.observe()
  t.match(workers, [
    { pod: 'new', state: 'starting', ageMs: 1000, slots: 4, busy: 0 },
    { pod: 'up', state: 'draining', ageMs: 9000, slots: 2, busy: 1 },
    { pod: 'going', state: 'stopping' },
  ])
  t.equal(serviceMs, 1000)
})

t.test('keeps the measured service time when all workers are gone', async (t) => {
  const { observer, world, beat } = begin()
  world.workers = [{ pod: 'up', ageMs: 9000, stopping: false }]
  beat('up', { serviceMs: 800 })
  await observer.observe()
  world.workers = []
  t.equal((await observer.observe()).serviceMs, 800)
})

t.test('measures silence from the last beat', async (t) => {
  const all = begin()
  all.world.workers = [{ pod: 'up', ageMs: 60_000, stopping: false }]
  all.backlog()
  all.beat('up')
  pass(all, 12)
  t.match((await all.observer.observe()).workers, [{ silentMs: 12_000 }])
  all.beat('up')
  t.match((await all.observer.observe()).workers, [{ silentMs: 0 }])
})

t.test('does not count as silence what it could not have heard', async (t) => {
  const all = begin()
  all.world.workers = [{ pod: 'up', ageMs: 60_000, stopping: false }]
  all.backlog()
  all.beat('up')
  all.world.nowMs += 40_000
  t.match((await all.observer.observe()).workers, [{ silentMs: 0 }])
  all.backlog()
  t.match((await all.observer.observe()).workers, [{ silentMs: 0 }])
  pass(all, 3)
  t.match((await all.observer.observe()).workers, [{ silentMs: 3000 }])
})

t.test('ignores and reports malformed messages and those of one worker in the name of another', async (t) => {
  const { observer, world, send, beat, malformed } = begin()
  world.workers = [{ pod: 'up', ageMs: 1000, stopping: false }]
  send(beatFilter('standard'), 'worker.standard.up.beat', Buffer.from('{'))
  send(backlogSubject('standard'), 'backlog.standard', Buffer.from('{}'))
  beat('up', { busy: 2 }, 'other')
  t.match(await observer.observe(), { backlog: 'unknown', workers: [{ state: 'starting' }] })
  t.strictSame(malformed, ['worker.standard.up.beat', 'backlog.standard', 'worker.standard.other.beat'])
})

t.test('stops listening when disposed', (t) => {
  const { observer, subscribers } = begin()
  t.equal(subscribers.size, 2)
  observer[Symbol.dispose]()
  t.equal(subscribers.size, 0)
  t.end()
})
