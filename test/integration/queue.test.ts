import t from 'tap'
import { openStandingPull } from '#ledger/reports/standing-pull.ts'
import { type Lane, lanes } from '#shared/capture/lane.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import type { Delivery } from '#shared/queue/pull.ts'
import { lastMessage, manage, publishStored } from '#shared/queue/stored.ts'
import {
  declareStreams,
  deleteMessage,
  deleteMessages,
  findUndeliverable,
  poolDepth,
  readStreams,
  unreadReports,
} from '#shared/queue/streams.ts'
import { captureSubject, resultSubject } from '#shared/queue/subjects.ts'
import {
  capturesStream,
  laneConsumerName,
  ledgerConsumer,
  reportAckWaitSeconds,
  resultsStream,
} from '#shared/queue/topology.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { pullBatch, pullFullBatch } from '#test/helpers/pull-batch.ts'
import { LanePuller } from '#worker/delivery/lane-puller.ts'

const nats = await startNats(t)
const queue = await connectQueue({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test', notice: () => {} })
t.teardown(() => queue[Symbol.asyncDispose]())
await declareStreams(queue)

/** The number of delivered, unacknowledged reports. */
const unacknowledged = async () => {
  const { consumers } = await manage(queue)
  return (await consumers.info(resultsStream.name, ledgerConsumer.durable_name)).num_ack_pending
}
const bytes = (text: string) => Buffer.from(text)
const decodeText = (data: Uint8Array | undefined) => data && Buffer.from(data).toString()
const inLane = (lane: Lane, id: string) => captureSubject({ pool: 'standard', lane, accountId: 'a', id })
const publish = (lane: Lane, id: string) => publishStored(queue, inLane(lane, id), bytes(id))
const never = new AbortController().signal

t.test('queue: a second message of a subject is rejected while the first is stored, also in flight', async (t) => {
  t.equal(await publish('normal', 'twice'), 'stored')
  t.equal(await publish('normal', 'twice'), 'stands')
  using puller = new LanePuller(queue, 'standard')
  const delivery = await puller.take(lanes, never)
  t.equal(await publish('normal', 'twice'), 'stands', 'also while it is in flight')
  delivery?.ack()
  await eventually(async () => (await publish('normal', 'twice')) === 'stored')
  await deleteMessages(queue, capturesStream.name, inLane('normal', 'twice'))
})

t.test(
  'queue: each request is reported once it has ended, those of JetStream and those without a reply too',
  async (t) => {
    const ended: (readonly [string, boolean])[] = []
    await using counted = await connectQueue({
      url: nats.url,
      name: 'counted',
      inboxPrefix: '_INBOX_counted',
      notice: () => {},
      requested: (operation, ms, isFailed) => {
        t.ok(ms > 0 && ms < 10_000)
        ended.push([operation, isFailed])
      },
    })
    t.equal(await publishStored(counted, inLane('normal', 'counted'), bytes('counted')), 'stored')
    await t.rejects(counted.request('nobody.listens', bytes(''), 1000), { code: 'SERVICE_UNAVAILABLE' })
    t.strictSame(ended, [
      ['request', false],
      ['request', true],
    ])
    await deleteMessages(queue, capturesStream.name, inLane('normal', 'counted'))
  },
)

t.test('queue: a slot takes from the lanes in its order', async (t) => {
  const takeIn = async (order: readonly Lane[]) => {
    for (const lane of ['bulk', 'normal', 'interactive'] as const) {
      // A message of the subject stands until its acknowledgement has arrived.
      await eventually(async () => (await publish(lane, lane)) === 'stored')
    }
    using puller = new LanePuller(queue, 'standard')
    const taken: string[] = []
    for (let count = 0; count < 3; count += 1) {
      const delivery = await puller.take(order, never)
      taken.push(decodeText(delivery?.data) ?? '')
      delivery?.ack()
    }
    return taken
  }
  t.strictSame(await takeIn(lanes), lanes)
  t.strictSame(await takeIn(['normal', 'interactive', 'bulk']), ['normal', 'interactive', 'bulk'])
  t.strictSame(await takeIn(['bulk', 'interactive', 'normal']), ['bulk', 'interactive', 'normal'])
})

t.test('queue: a slot takes nothing from a lane that it does not serve', async (t) => {
  await publish('bulk', 'refused')
  using puller = new LanePuller(queue, 'standard')
  const reserved = puller.take(['interactive', 'normal'], never)
  // A slot that serves every lane has the capture of the batch, though it waits behind the reserved one.
  const other = await puller.take(lanes, never)
  t.equal(decodeText(other?.data), 'refused')
  other?.ack()
  await publish('bulk', 'kept')
  await publish('normal', 'mine')
  const mine = await reserved
  t.equal(decodeText(mine?.data), 'mine')
  mine?.ack()
  const kept = await puller.take(lanes, never)
  t.equal(decodeText(kept?.data), 'kept')
  kept?.ack()
})

t.test('queue: a message that must be the first of its subject is rejected while another is stored', async (t) => {
  const subject = resultSubject({ pool: 'standard', id: '0d9f6c1e-0000-4000-8000-000000000003' })
  const first = () => publishStored(queue, subject, bytes('first'), { first: true })
  t.same([await first(), await first()], ['stored', 'stands'])
  t.equal(await publishStored(queue, subject, bytes('second')), 'stored')
  await deleteMessages(queue, resultsStream.name, subject)
  t.equal(await first(), 'stored', 'purged messages do not count')
  await deleteMessages(queue, resultsStream.name, subject)
})

t.test('queue: a waiting slot takes a new capture of any lane immediately', async (t) => {
  using puller = new LanePuller(queue, 'standard')
  const taken = puller.take(lanes, never)
  await eventually(async () => (await poolDepth(queue, 'standard')).inFlight === 0)
  await publish('bulk', 'late')
  const delivery = await taken
  t.equal(decodeText(delivery?.data), 'late')
  delivery?.ack()
})

t.test('queue: deliveries without a waiting slot are returned immediately', async (t) => {
  using one = new LanePuller(queue, 'standard')
  using two = new LanePuller(queue, 'standard')
  const first = one.take(lanes, never)
  await publish('normal', 'mine')
  const mine = await first
  t.equal(decodeText(mine?.data), 'mine')
  // The busy worker still has long requests open on the other lanes.
  const second = two.take(lanes, never)
  await publish('interactive', 'theirs')
  const theirs = await second
  t.equal(decodeText(theirs?.data), 'theirs')
  mine?.ack()
  theirs?.ack()
})

/** Delivers two captures, removes a third, and completes a fourth; resolves to the ids that are delivered again after a nak of both. */
const redeliveredAfter = async (lane: Lane, remove: (subject: string) => Promise<unknown>) => {
  const from = { stream: capturesStream.name, consumer: laneConsumerName('standard', lane) }
  const pull = (batch: number) => pullFullBatch(queue, from, { batch, expiresMs: 2000, signal: never })
  for (const id of ['first', 'second', 'removed']) await publish(lane, id)
  const [first, second] = await pull(3)
  await remove(inLane(lane, 'removed'))
  await publish(lane, 'completed')
  const [completed] = await pull(1)
  completed?.ack()
  first?.nak()
  second?.nak()
  await queue.connection.flush()
  const again = await pull(2)
  for (const delivery of again) delivery.ack()
  return new Set(again.map(({ data }) => decodeText(data)))
}

t.test('queue: the deletion of a message loses none that is in flight', async (t) => {
  const deleted = await redeliveredAfter('bulk', (subject) => deleteMessages(queue, capturesStream.name, subject))
  t.same(deleted, new Set(['first', 'second']))
  t.same(await findUndeliverable(queue), [])
})

t.test('planted fault: after a purge of the same message the others are never delivered again', async (t) => {
  const { streams } = await manage(queue)
  t.same(await redeliveredAfter('bulk', (filter) => streams.purge(capturesStream.name, { filter })), new Set())
  for (const id of ['first', 'second']) {
    const [found] = await findUndeliverable(queue)
    t.equal(found?.id, id)
    await deleteMessage(queue, capturesStream.name, found?.sequence ?? 0)
    await deleteMessage(queue, capturesStream.name, found?.sequence ?? 0)
  }
  t.same(await findUndeliverable(queue), [])
})

t.test('queue: an aborted take returns undefined and takes no message', async (t) => {
  using puller = new LanePuller(queue, 'standard')
  const abort = new AbortController()
  const taken = puller.take(lanes, abort.signal)
  abort.abort()
  t.equal(await taken, undefined)
  t.equal(await puller.take(lanes, abort.signal), undefined)
  await publish('normal', 'kept')
  await eventually(async () => (await poolDepth(queue, 'standard')).waiting === 1)
  await deleteMessages(queue, capturesStream.name, inLane('normal', 'kept'))
})

t.test(
  'queue: the ledger pulls reports in batches, and the newest report of a capture can be read directly',
  async (t) => {
    const id = '0d9f6c1e-0000-4000-8000-000000000001'
    const subject = resultSubject({ pool: 'standard', id })
    const from = { stream: resultsStream.name, consumer: ledgerConsumer.durable_name }
    t.equal(await lastMessage(queue, resultsStream.name, subject), undefined)
    for (const text of ['1', '2', '3']) await publishStored(queue, subject, bytes(text))
    t.equal(decodeText((await lastMessage(queue, resultsStream.name, subject))?.data), '3')
    t.equal(await unreadReports(queue), 3)
    const batch = await pullBatch(queue, from, { batch: 200, expiresMs: 2000, signal: never })
    t.strictSame(
      batch.map((delivery) => decodeText(delivery.data)),
      ['1', '2', '3'],
    )
    for (const delivery of batch) delivery.ack()
    await eventually(async () => (await unreadReports(queue)) === 0)
  },
)

/** Opens a standing pull on the consumer of reports, and counts its requests and its renewals of messages. */
const pullReports = (batch: number, { own = queue, ackWaitMs = reportAckWaitSeconds * 1000 } = {}) => {
  let requests = 0
  const renewed: string[] = []
  const counted: Queue['publish'] = (...message) => {
    if (message[0].includes('MSG.NEXT')) requests += 1
    if (Buffer.from(message[1]).equals(Buffer.from('+WPI'))) renewed.push(message[0])
    own.publish(...message)
  }
  const from = { stream: resultsStream.name, consumer: ledgerConsumer.durable_name, ackWaitMs, batch }
  const pull = openStandingPull({ ...own, publish: counted }, from)
  return { pull, requests: () => requests, renewed }
}
const report = (text: string) =>
  publishStored(queue, resultSubject({ pool: 'standard', id: '0d9f6c1e-0000-4000-8000-000000000002' }), bytes(text))
const textsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ data }) => decodeText(data))

t.test('standing pull: one request delivers messages until its batch size is reached', async (t) => {
  const { pull, requests } = pullReports(2)
  using _pull = pull
  for (const text of ['1', '2', '3']) {
    const taken = pull.take(never)
    await report(text)
    const deliveries = await taken
    t.same(textsOf(deliveries), [text])
    for (const delivery of deliveries) delivery.ack()
  }
  t.equal(requests(), 2)
  const aborted = new AbortController()
  const nothing = pull.take(aborted.signal)
  aborted.abort()
  t.same(await nothing, [])
})

t.test('standing pull: messages that were not taken are returned when it is disposed', async (t) => {
  const { pull } = pullReports(10)
  await report('left')
  await eventually(async () => (await unacknowledged()) === 1)
  pull[Symbol.dispose]()
  using next = pullReports(10).pull
  const deliveries = await next.take(AbortSignal.timeout(20_000))
  t.same(textsOf(deliveries), ['left'], 'redelivered long before the ack wait is over')
  for (const delivery of deliveries) delivery.ack()
})

t.test('standing pull: messages in the hands of a killed ledger reach another one within 10 s', async (t) => {
  await using killed = await connectQueue({
    url: nats.url,
    name: 'killed',
    inboxPrefix: '_INBOX_test',
    notice: () => {},
  })
  let isKilled = false
  const publishAlive: Queue['publish'] = (...message) => {
    if (!isKilled) killed.publish(...message)
  }
  const { pull } = pullReports(10, { own: { ...killed, publish: publishAlive } })
  await report('taken')
  t.same(textsOf(await pull.take(never)), ['taken'])
  await report('arrived')
  await eventually(async () => (await unacknowledged()) === 2)
  isKilled = true
  pull[Symbol.dispose]()
  using next = pullReports(10).pull
  const redelivered: Delivery[] = []
  while (redelivered.length < 2) {
    const deliveries = await next.take(AbortSignal.timeout(10_000))
    if (deliveries.length === 0) break
    redelivered.push(...deliveries)
  }
  t.same(new Set(textsOf(redelivered)), new Set(['taken', 'arrived']))
  for (const delivery of redelivered) delivery.ack()
})

t.test('standing pull: messages are renewed from their arrival until they are acknowledged', async (t) => {
  const { pull, renewed } = pullReports(10, { ackWaitMs: 30 })
  using _pull = pull
  await report('first')
  await eventually(() => renewed.length > 1, { what: 'one that was not taken is renewed' })
  const [first] = await pull.take(never)
  renewed.length = 0
  await eventually(() => renewed.length > 1, { what: 'one that is being applied is renewed' })
  first?.ack()
  renewed.length = 0
  await report('second')
  await eventually(() => renewed.length > 1)
  t.equal(new Set(renewed).size, 1, 'an acknowledged one is not renewed')
  for (const delivery of await pull.take(never)) delivery.ack()
})

t.test('queue: consumers of an earlier release are updated', async (t) => {
  const { consumers } = await manage(queue)
  const ackWaitNs = async () => (await consumers.info(resultsStream.name, ledgerConsumer.durable_name)).config.ack_wait
  await consumers.update(resultsStream.name, ledgerConsumer.durable_name, { ack_wait: 30_000_000_000 })
  await declareStreams(queue)
  t.equal(await ackWaitNs(), ledgerConsumer.ack_wait)
})

t.test('standing pull: continues after a restart of the server', async (t) => {
  using pull = pullReports(10).pull
  await nats.restart()
  await eventually(() => queue.isConnected())
  await report('after')
  // Messages whose acknowledgement the server lost may be redelivered first.
  const giveUp = AbortSignal.timeout(20_000)
  let newest: Delivery | undefined
  while (decodeText(newest?.data) !== 'after' && !giveUp.aborted) {
    for (const delivery of await pull.take(giveUp)) {
      delivery.ack()
      newest = delivery
    }
  }
  t.equal(decodeText(newest?.data), 'after')
})

t.test('queue: streams that are lost in a crash with the disk are declared again', async (t) => {
  await publish('normal', 'lost')
  using puller = new LanePuller(queue, 'standard')
  await nats.wipe()
  await eventually(async () => queue.isConnected() && (await readStreams(queue)).length < 2)
  await declareStreams(queue)
  t.equal((await readStreams(queue)).length, 2, 'missing streams are created')
  await declareStreams(queue)
  const taken = puller.take(lanes, never)
  await publish('normal', 'new')
  t.equal(decodeText((await taken)?.data), 'new', 'a worker from before the crash takes new captures')
})

t.test('queue: a connection can be closed while its server is down', async (t) => {
  const away = await startNats(t)
  const lost = Promise.withResolvers<void>()
  const notice = () => lost.resolve()
  const own = await connectQueue({ url: away.url, name: 'test', inboxPrefix: '_INBOX_test', notice })
  await away.stop()
  await lost.promise
  await own[Symbol.asyncDispose]()
  t.equal(own.isConnected(), false)
})

t.test('queue: a worker that pulls before the streams exist gets captures soon after they are declared', async (t) => {
  const fresh = await startNats(t)
  await using own = await connectQueue({ url: fresh.url, name: 'test', inboxPrefix: '_INBOX_test', notice: () => {} })
  // Three requests without waiting, then a long one per lane.
  let published = 0
  const counted: typeof own.publish = (...message) => {
    published += 1
    own.publish(...message)
  }
  using puller = new LanePuller({ ...own, publish: counted }, 'standard')
  const taken = puller.take(lanes, AbortSignal.timeout(30_000))
  await eventually(() => published >= 6)
  await declareStreams(own)
  await publishStored(own, inLane('normal', 'early'), bytes('early'))
  const giveUp = AbortSignal.timeout(3000)
  const tooLate = new Promise((resolve) => giveUp.addEventListener('abort', resolve))
  t.ok(await Promise.race([taken, tooLate.then(() => undefined)]), 'long before its pull request expires')
})
