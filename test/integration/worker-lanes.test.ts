import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { connectQueue } from '#shared/queue/connection.ts'
import { type QueueUserName, userInboxPrefix } from '#shared/queue/permissions.ts'
import { manage } from '#shared/queue/stored.ts'
import { capturesStream, laneConsumerName } from '#shared/queue/topology.ts'
import { smallImage } from '#test/helpers/cluster-fleet.ts'
import { startClusterQueue } from '#test/helpers/cluster-queue.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startInProcessWorker } from '#test/helpers/in-process-worker.ts'
import type { Order } from '#worker/protocol/protocol.ts'

const queue = await startClusterQueue()
t.teardown(() => queue[Symbol.asyncDispose]())
const connectAs = async (name: QueueUserName) => {
  const connected = await connectQueue({
    url: queue.urlOf(name),
    name,
    inboxPrefix: userInboxPrefix(name),
    notice: () => {},
  })
  t.teardown(() => connected[Symbol.asyncDispose]())
  return connected
}
const ledger = await connectAs('ledger')
const workers = await connectAs('worker_standard')

/** A worker of the pool with the real loop; `serve` is its browser. Stops at the end of the test. */
const startWorker = async (
  test: Test,
  { slots, reservedSlots = 0 }: { slots: number; reservedSlots?: number },
  serve: (order: Order) => Promise<void>,
) => {
  const nothing = () => {}
  const pod = `worker-${crypto.randomUUID()}`
  const worker = startInProcessWorker({
    spec: { pod, worker: pod, pool: 'standard', slots, reservedSlots, isSingleUse: false, spareMs: 0 },
    queue: workers,
    openingKeys: [queue.openingKeyOf('standard')],
    startMs: 0,
    capture: async (order) => {
      await serve(order)
      return smallImage(order)
    },
    events: { dropped: nothing, interrupted: nothing, begun: nothing, ended: nothing, lost: nothing },
    held: nothing,
    changed: nothing,
  })
  test.teardown(async () => {
    worker.stop()
    await worker.ended
  })
}

/** Pull requests that are open on lane `interactive`. */
const openRequests = async () => {
  const { consumers } = await manage(ledger)
  return (await consumers.info(capturesStream.name, laneConsumerName('standard', 'interactive'))).num_waiting
}

t.test('lanes: an interactive capture waits for one capture of a batch at most, as long as the batch is', async (t) => {
  const rounds = 24
  const starts: string[] = []
  /** By interactive capture, the number of captures that had begun when it arrived. */
  const arrivals = new Map<string, number>()
  let untilNext = 1
  await startWorker(t, { slots: 1 }, async ({ id }) => {
    starts.push(id)
    if (arrivals.has(id)) return
    untilNext -= 1
    if (untilNext > 0 || arrivals.size === rounds) return
    // Varies, so that captures arrive at any turn of the slot.
    untilNext = 1 + (arrivals.size % 3)
    for (const sent of await queue.send(1, { lane: 'interactive' })) arrivals.set(sent, starts.length)
    // The slot is busy: the worker has returned what its open request received, before the slot pulls again.
    await eventually(async () => (await openRequests()) === 0, { what: 'no request is open on the lane' })
    await delay(50)
  })
  const batch = new Set(await queue.send(500, { lane: 'bulk' }))
  await queue.allEnded(60_000)
  t.equal(arrivals.size, rounds)
  t.equal(starts.length, 500 + rounds)
  const overtaken = [...arrivals].map(
    ([id, begun]) => starts.slice(begun, starts.indexOf(id)).filter((each) => batch.has(each)).length,
  )
  t.strictSame(
    overtaken,
    Array.from({ length: rounds }, () => 0),
    'captures of the batch that began after the arrival and before the start',
  )
})

t.test('lanes: a batch under constant interactive load has at least one start of eight', async (t) => {
  const starts: string[] = []
  const lanesOf = new Map<string, 'interactive' | 'bulk'>()
  for (const [lane, count] of [
    ['bulk', 10],
    ['interactive', 100],
  ] as const) {
    for (const id of await queue.send(count, { lane })) lanesOf.set(id, lane)
  }
  await startWorker(t, { slots: 1 }, async ({ id }) => void starts.push(id))
  await queue.allEnded(60_000)
  const order = starts.map((id) => lanesOf.get(id))
  for (let first = 0; first < 72; first += 8) {
    const bulk = order.slice(first, first + 8).filter((lane) => lane === 'bulk').length
    t.equal(bulk, 1, `starts ${first} to ${first + 7}`)
  }
})

t.test('lanes: a slot serves no two captures of a batch in a row while other slots serve urgent ones', async (t) => {
  const lanesOf = new Map<string, 'interactive' | 'bulk'>()
  for (const [lane, count] of [
    ['bulk', 10],
    ['interactive', 100],
  ] as const) {
    for (const id of await queue.send(count, { lane })) lanesOf.set(id, lane)
  }
  const rounds = 5
  /** The lanes of the captures that a slot has begun after one of the batch. */
  const next: unknown[] = []
  let hasBatch = false
  let urgent = 0
  /** Keeps the reserved slot busy once more than seven urgent captures have begun in it, so that the next one begins in the other slot. */
  let held: PromiseWithResolvers<void> | undefined
  await startWorker(t, { slots: 2, reservedSlots: 1 }, async ({ id }) => {
    if (next.length === rounds) return
    const lane = lanesOf.get(id)
    if (held && !hasBatch) {
      next.push(lane)
      held.resolve()
      held = undefined
    } else if (lane === 'bulk') {
      hasBatch = true
      urgent = 0
      await eventually(() => held !== undefined, { what: 'the other slot is busy' })
      hasBatch = false
    } else if (hasBatch) {
      urgent += 1
      if (urgent < 9) return
      held = Promise.withResolvers()
      await held.promise
    }
  })
  await queue.allEnded(60_000)
  t.strictSame(
    next,
    Array.from({ length: rounds }, () => 'interactive'),
  )
})

t.test('lanes: a batch leaves the reserved slots to other captures', async (t) => {
  const release = Promise.withResolvers<void>()
  const begun = { interactive: 0, bulk: 0 }
  let batch = new Set<string>()
  await startWorker(t, { slots: 3, reservedSlots: 1 }, async ({ id }) => {
    const lane = batch.has(id) ? 'bulk' : 'interactive'
    begun[lane] += 1
    if (lane === 'bulk') await release.promise
  })
  // Otherwise a worker with unended captures would not stop.
  t.teardown(() => release.resolve())
  batch = new Set(await queue.send(10, { lane: 'bulk' }))
  await eventually(() => begun.bulk === 2, { what: 'the other slots serve the batch' })
  for (let sent = 1; sent <= 9; sent += 1) {
    await queue.send(1, { lane: 'interactive' })
    await eventually(() => begun.interactive === sent, { what: 'the reserved slot serves the capture' })
  }
  t.equal(begun.bulk, 2, 'while nine other captures were served')
  release.resolve()
  await queue.allEnded()
})
