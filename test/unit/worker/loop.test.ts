import t from 'tap'
import { type Lane, lanes } from '#shared/capture/lane.ts'
import type { Delivery } from '#shared/queue/pull.ts'
import { captureSubject } from '#shared/queue/subjects.ts'
import { LaneTurns } from '#worker/delivery/lane-turns.ts'
import type { Host } from '#worker/host/steer-host.ts'
import { createServiceTime } from '#shared/policy/service-time.ts'
import { startLifecycle } from '#worker/lifecycle/lifecycle.ts'
import { type Running, serveUntil, serveNext } from '#worker/loop.ts'
import { createImageStore } from '#test/helpers/image-store.ts'
import { createQueueDouble } from '#test/helpers/queue-double.ts'

const never = new AbortController().signal
const host: Host = {
  gone: never,
  capture: () => Promise.reject(new Error('no page may be opened')),
  [Symbol.asyncDispose]: async () => {},
}
const slot = {
  isWarm: () => true,
  preference: () => undefined,
  coldForMs: () => 0,
  host: async () => host,
  [Symbol.asyncDispose]: async () => {},
}
const nothing = () => {}

const deliveryOf = (lane: Lane, over: Partial<Delivery> = {}): Delivery => ({
  subject: captureSubject({ pool: 'standard', lane, accountId: 'a', id: crypto.randomUUID() }),
  data: new Uint8Array(),
  traceparent: undefined,
  storedAtMs: 0,
  ack: nothing,
  nak: nothing,
  working: nothing,
  ...over,
})

const reply = {
  data: Buffer.from('{}'),
  reply: undefined,
  traceparent: undefined,
  statusCode: 0,
  header: () => undefined,
}

/** A worker whose captures have already ended, so that each start takes no time. */
const workerOf = (pod: string, slots: number, take: Running['puller']['take']): Running => ({
  pod,
  pool: 'standard',
  openingKeys: [],
  queue: createQueueDouble({ request: async (subject) => ({ ...reply, subject }) }),
  store: createImageStore().store,
  egress: { outages: () => 0, isUpSince: async () => true, [Symbol.dispose]: nothing },
  events: { dropped: nothing, begun: nothing, ended: nothing, interrupted: nothing, lost: nothing },
  puller: { take },
  lifecycle: startLifecycle(never, nothing),
  slots: Array.from({ length: slots }, () => slot),
  reservedSlots: 0,
  service: createServiceTime(),
})

const startsMax = 1600

/** Starts of each lane while every lane has a backlog. */
const startsUnderLoad = async (workers: number, slots: number): Promise<Record<Lane, number>> => {
  const starts: Record<Lane, number> = { interactive: 0, normal: 0, bulk: 0 }
  const stop = new AbortController()
  let count = 0
  const take = async ([lane = 'interactive']: readonly Lane[]) => {
    starts[lane] += 1
    count += 1
    if (count >= startsMax) stop.abort()
    return deliveryOf(lane)
  }
  await Promise.all(
    Array.from({ length: workers }, (_none, index) =>
      serveUntil(workerOf(`worker-${index}`, slots, take), stop.signal),
    ),
  )
  return starts
}

t.test('lanes: under a constant interactive backlog each lower lane gets an eighth of the starts', async (t) => {
  for (const [workers, slots] of [
    [1, 1],
    [1, 3],
    [7, 1],
    [3, 8],
    [2, 16],
    [40, 2],
  ] as const) {
    const starts = await startsUnderLoad(workers, slots)
    const all = lanes.reduce((sum, lane) => sum + starts[lane], 0)
    for (const lane of ['normal', 'bulk'] as const) {
      const share = starts[lane] / all
      t.ok(Math.abs(share - 1 / 8) <= 0.05 / 8, `${workers} workers of ${slots} slots: ${lane} ${share}`)
    }
  }
})

t.test('lanes: reserved slots pull from all lanes but that of batches', async (t) => {
  const orders: (readonly Lane[])[] = []
  const stop = new AbortController()
  const worker = workerOf('pod', 3, async (order) => {
    orders.push(order)
    if (orders.length === 3) stop.abort()
    return undefined
  })
  await serveUntil({ ...worker, reservedSlots: 2 }, stop.signal)
  worker.lifecycle[Symbol.dispose]()
  t.strictSame(
    orders.map((order) => order.includes('bulk')),
    [false, false, true],
  )
})

t.test('pulling: hands back what arrives as pulling ends', async (t) => {
  const handedBack: unknown[] = []
  const worker = workerOf('pod', 1, async () => {
    worker.lifecycle.drain()
    return deliveryOf('normal', { nak: (delayMs) => void handedBack.push(delayMs) })
  })
  const served = await serveNext(worker, {
    turns: new LaneTurns('pod').forSlot(),
    host: async () => host,
    slot,
    signal: never,
    onServed: () => t.fail('nothing is served'),
  })
  worker.lifecycle[Symbol.dispose]()
  t.equal(served, undefined)
  t.same(handedBack, [undefined], 'available to other workers at once')
})
