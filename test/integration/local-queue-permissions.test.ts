import { jetstreamManager } from '@nats-io/jetstream'
import t from 'tap'
import { accountsText } from '#local/nats-config.ts'
import { type Lane, lanes } from '#shared/capture/lane.ts'
import { connectQueue, type Queue, type QueueNotice } from '#shared/queue/connection.ts'
import { userInboxPrefix, type QueueUserName, queueUsers } from '#shared/queue/permissions.ts'
import { lastMessage, publishStored } from '#shared/queue/stored.ts'
import { declareStreams, poolDepth, readStreams, unreadReports } from '#shared/queue/streams.ts'
import {
  heartbeatFilter,
  heartbeatSubject,
  captureSubject,
  drainSubject,
  poolStateSubject,
  resultSubject,
  signFilter,
  signSubject,
  startedSubject,
} from '#shared/queue/subjects.ts'
import { capturesStream, laneConsumerName, laneConsumers, resultsStream } from '#shared/queue/topology.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats, type TestNats } from '#test/helpers/nats.ts'
import { pullBatch, pullFullBatch } from '#test/helpers/pull-batch.ts'
import { LanePuller } from '#worker/delivery/lane-puller.ts'

const passwords = Object.fromEntries(queueUsers.map(({ name }) => [name, `secret-of-${name}`])) as Record<
  QueueUserName,
  string
>
const nats = await startNats(t, { config: accountsText(passwords) })
const bytes = (text = 'x') => Buffer.from(text)
const decodeText = (data: Uint8Array | undefined) => data && Buffer.from(data).toString()

/** Connects as a user; `refusals` collects the server's permission errors. */
const connectAs = async (name: QueueUserName, server: TestNats = nats) => {
  const refusals: string[] = []
  const notice = ({ kind, detail }: QueueNotice) => {
    if (kind === 'error') refusals.push(detail)
  }
  const url = server.url.replace('://', `://${name}:${passwords[name]}@`)
  const queue = await connectQueue({ url, name, inboxPrefix: userInboxPrefix(name), notice })
  t.teardown(() => queue[Symbol.asyncDispose]())
  return { queue, refusals }
}

const ledger = await connectAs('ledger')
const gateway = await connectAs('gateway')
const controller = await connectAs('controller')
const worker = await connectAs('worker_standard')
const stealth = await connectAs('worker_stealth')

// Responds to requests for addresses as the gateway does.
for (const pool of ['standard', 'stealth'] as const) {
  gateway.queue.subscribe(
    signFilter(pool),
    ({ subject, reply }) => gateway.queue.publish(reply ?? '', bytes(subject)),
    'gateway',
  )
}

const capture = { pool: 'standard', lane: 'normal', accountId: 'a' } as const
const subjectOf = (id: string) => captureSubject({ ...capture, id })
const started = (id: string) => startedSubject({ pool: 'standard', id })
const result = (id: string) => resultSubject({ pool: 'standard', id })
const drain = drainSubject({ pool: 'standard', pod: 'p' })
const never = new AbortController().signal

/** Publishes what must be refused and returns the server's error. */
const refused = async (name: QueueUserName, act: (queue: Queue) => void) => {
  const { queue, refusals } = await connectAs(name)
  act(queue)
  await eventually(() => refusals.length > 0, { withinMs: 2000, what: `a refusal to ${name}` })
  return refusals[0] ?? ''
}

t.test('local queue permissions: a worker that pulls before the streams exist is served once they do', async (t) => {
  using puller = new LanePuller(worker.queue, 'standard')
  const taken = puller.take(lanes, AbortSignal.timeout(20_000))
  await declareStreams(ledger.queue)
  await publishStored(gateway.queue, subjectOf('early'), bytes('early'))
  const delivery = await taken
  t.equal(decodeText(delivery?.data), 'early')
  t.equal(delivery?.subject, subjectOf('early'))
  delivery?.ack()
  await eventually(async () => (await poolDepth(controller.queue, 'standard')).inFlight === 0)
})

t.test('local queue permissions: a worker takes a capture of its pool, reports, and reads reports back', async (t) => {
  using puller = new LanePuller(worker.queue, 'standard')
  const late = puller.take(lanes, AbortSignal.timeout(20_000))
  t.equal(await publishStored(gateway.queue, subjectOf('one'), bytes('one')), 'stored')
  ;(await late)?.nak()
  const delivery = await puller.take(lanes, AbortSignal.timeout(10_000))
  t.equal(decodeText(delivery?.data), 'one', 'a handed-back capture is delivered again')
  t.equal(await lastMessage(worker.queue, resultsStream.name, started('one')), undefined)
  t.equal(await publishStored(worker.queue, started('one'), bytes('begun')), 'stored')
  t.equal(await publishStored(worker.queue, result('one'), bytes('done')), 'stored')
  t.equal(decodeText((await lastMessage(worker.queue, resultsStream.name, result('one')))?.data), 'done')
  delivery?.ack()
  await eventually(async () => (await poolDepth(controller.queue, 'standard')).inFlight === 0)
  t.equal(await unreadReports(ledger.queue), 2)
  t.strictSame([worker.refusals, controller.refusals, ledger.refusals], [[], [], []])
})

t.test(
  'local queue permissions: a worker gets the response to its request for an address, for its pool only',
  async (t) => {
    const own = signSubject({ pool: 'standard', id: 'one' })
    t.equal(decodeText((await worker.queue.request(own, bytes(), 2000)).data), own)
    t.match(
      await refused('worker_stealth', (queue) => queue.publish(own, bytes(), { reply: queue.newInbox() })),
      /sign/,
    )
    t.match(await refused('worker_standard', (queue) => void queue.subscribe(signFilter('standard'), () => {})), /sign/)
    t.strictSame([worker.refusals, gateway.refusals], [[], []])
  },
)

t.test('local queue permissions: the ledger receives pool states, and no worker can publish them', async (t) => {
  const received = Promise.withResolvers<string | undefined>()
  using _state = ledger.queue.subscribe(poolStateSubject('proxied'), ({ data }) => received.resolve(decodeText(data)))
  await ledger.queue.connection.flush()
  t.match(
    await refused('worker_proxied', (queue) => queue.publish(poolStateSubject('proxied'), bytes('forged'))),
    /pool/,
  )
  controller.queue.publish(poolStateSubject('proxied'), bytes('said'))
  t.equal(await received.promise, 'said')
  t.strictSame([ledger.refusals, controller.refusals], [[], []])
})

t.test("local queue permissions: controller and worker receive each other's drain and heartbeat", async (t) => {
  const drained = Promise.withResolvers<void>()
  const received = Promise.withResolvers<void>()
  using _drain = worker.queue.subscribe(drain, () => drained.resolve())
  using _heartbeats = controller.queue.subscribe(heartbeatFilter('standard'), () => received.resolve())
  await Promise.all([worker.queue.connection.flush(), controller.queue.connection.flush()])
  controller.queue.publish(drain, bytes())
  worker.queue.publish(heartbeatSubject({ pool: 'standard', pod: 'p' }), bytes())
  await Promise.all([drained.promise, received.promise])
  t.strictSame([worker.refusals, controller.refusals], [[], []])
})

t.test('local queue permissions: a capture kept by its worker is not redelivered, a forgotten one is', async (t) => {
  const name = laneConsumerName('standard', 'bulk')
  const shipped = laneConsumers.find((each) => each.durable_name === name)
  const config = { ...shipped, name, ack_wait: 1_000_000_000 }
  const request = JSON.stringify({ stream_name: capturesStream.name, config, action: '' })
  const create = `$JS.API.CONSUMER.CREATE.${capturesStream.name}.${name}.${shipped?.filter_subject}`
  t.notMatch(decodeText((await ledger.queue.request(create, bytes(request), 2000)).data), /"error"/)
  for (const id of ['kept', 'forgotten']) {
    await publishStored(gateway.queue, captureSubject({ ...capture, lane: 'bulk', id }), bytes(id))
  }
  const from = { stream: capturesStream.name, consumer: name }
  const [acknowledged, forgotten] = await pullFullBatch(worker.queue, from, {
    batch: 2,
    expiresMs: 2000,
    signal: never,
  })
  t.strictSame([decodeText(acknowledged?.data), decodeText(forgotten?.data)], ['kept', 'forgotten'])
  const keeping = setInterval(() => acknowledged?.working(), 200)
  const [again] = await pullBatch(worker.queue, from, { batch: 2, expiresMs: 10_000, signal: never })
  clearInterval(keeping)
  t.equal(decodeText(again?.data), 'forgotten')
  acknowledged?.ack()
  again?.ack()
  await eventually(async () => (await poolDepth(controller.queue, 'standard')).inFlight === 0)
})

t.test('local queue permissions: nothing is delivered to a disposed puller with open requests', async (t) => {
  const { consumers } = await jetstreamManager(ledger.queue.connection)
  const isWaitedFor = async (lane: Lane) => {
    const { num_waiting } = await consumers.info(capturesStream.name, laneConsumerName('stealth', lane))
    return num_waiting > 0
  }
  const gone = await connectAs('worker_stealth')
  const gonePuller = new LanePuller(gone.queue, 'stealth')
  void gonePuller.take(lanes, never)
  // Wait until the consumers have read the requests: one read after its inbox is gone would swallow a message.
  await eventually(async () => (await Promise.all(lanes.map(isWaitedFor))).every(Boolean))
  gonePuller[Symbol.dispose]()
  await gone.queue.connection.flush()
  await publishStored(gateway.queue, captureSubject({ ...capture, pool: 'stealth', id: 'next' }), bytes('next'))
  using puller = new LanePuller(stealth.queue, 'stealth')
  const delivery = await puller.take(lanes, AbortSignal.timeout(10_000))
  t.equal(decodeText(delivery?.data), 'next', 'before its ack wait could have passed')
  delivery?.ack()
  await eventually(async () => (await poolDepth(controller.queue, 'stealth')).inFlight === 0)
})

t.test('local queue permissions: the gateway can read whether the streams exist', async (t) => {
  t.equal((await readStreams(gateway.queue)).length, 2)
  t.strictSame(gateway.refusals, [])
})

/** Requests that a worker may make; the server sends each response to their reply subject. */
const deputies = [
  { subject: `$JS.API.DIRECT.GET.${resultsStream.name}.${result('one')}`, body: '' },
  { subject: `$JS.API.DIRECT.GET.${resultsStream.name}.${result('*')}`, body: '' },
  { subject: `$JS.API.CONSUMER.MSG.NEXT.${capturesStream.name}.standard-normal`, body: '{"batch":1,"no_wait":true}' },
  { subject: started('deputy'), body: 'x' },
  { subject: result('deputy'), body: 'x' },
  { subject: signSubject({ pool: 'standard', id: 'deputy' }), body: '' },
  { subject: `$JS.ACK.${capturesStream.name}.standard-normal.1.1.1.1.0`, body: '+NXT {"batch":1,"no_wait":true}' },
]
/** Reply subjects where a response does harm. The results stream is deleted last, as responses need it. */
const harmful = [
  subjectOf('forged'),
  'event.a.b',
  'relay.nudge',
  'worker.standard.other.drain',
  startedSubject({ pool: 'stealth', id: 'x' }),
  resultSubject({ pool: 'stealth', id: 'x' }),
  '_INBOX_gateway.x',
  `$JS.API.CONSUMER.CREATE.${resultsStream.name}.spy`,
  `$JS.API.STREAM.PURGE.${capturesStream.name}`,
  `$JS.API.STREAM.DELETE.${resultsStream.name}`,
]

/** Sends every request with every harmful reply subject; `received` collects the subjects of the services' account. */
const sendDeputies = async (server: TestNats, as: Queue) => {
  const operator = await connectAs('operator', server)
  const received = new Set<string>()
  operator.queue.subscribe('>', ({ subject }) => received.add(subject))
  await operator.queue.connection.flush()
  for (const reply of harmful) {
    for (const { subject, body } of deputies) as.publish(subject, bytes(body), { reply })
  }
  await as.connection.flush()
  return { received, flush: () => operator.queue.connection.flush() }
}

t.test("local queue permissions: responses to a worker's requests reach only workers of its pool", async (t) => {
  const before = await unreadReports(ledger.queue)
  const { received, flush } = await sendDeputies(nats, worker.queue)
  // Responses come in the order of requests: after these, all others have been sent.
  await publishStored(worker.queue, started('after'), bytes())
  await lastMessage(worker.queue, resultsStream.name, result('one'))
  await pullBatch(
    worker.queue,
    { stream: capturesStream.name, consumer: laneConsumerName('standard', 'normal') },
    { batch: 1, expiresMs: 1, signal: never },
  )
  await flush()
  t.strictSame(
    harmful.filter((subject) => received.has(subject)),
    [],
  )
  t.ok(
    [...received].some((subject) => subject.startsWith('_R_.')),
    'responses were sent',
  )
  t.equal((await readStreams(gateway.queue)).length, 2)
  t.equal(await unreadReports(ledger.queue), before + harmful.length * 2 + 1)
})

t.test('local queue permissions: if all users share one account, every harmful subject is reached', async (t) => {
  const users = queueUsers.map(({ name, publish, subscribe }) => ({
    user: name,
    password: passwords[name],
    permissions: { publish, subscribe },
  }))
  const planted = await startNats(t, { config: `authorization { users: ${JSON.stringify(users)} }` })
  await declareStreams((await connectAs('ledger', planted)).queue)
  const { queue } = await connectAs('worker_standard', planted)
  await publishStored(queue, result('one'), bytes('done'))
  const { received } = await sendDeputies(planted, queue)
  await eventually(() => harmful.every((subject) => received.has(subject)), {
    what: 'all harmful subjects are reached',
  })
})

t.test('local queue permissions: a worker cannot read a report of another pool', async (t) => {
  await publishStored(worker.queue, result('own'), bytes('done'))
  for (const id of ['own', '*', '>']) {
    t.equal(await lastMessage(stealth.queue, resultsStream.name, resultSubject({ pool: 'stealth', id })), undefined, id)
  }
  t.equal(
    decodeText((await lastMessage(worker.queue, resultsStream.name, result('*')))?.data),
    'done',
    'its own pool has some',
  )
  const get = `$JS.API.DIRECT.GET.${resultsStream.name}.${resultSubject({ pool: 'stealth', id: 'own' })}`
  t.equal((await stealth.queue.request(get, bytes('{"seq":1}'), 2000)).statusCode, 408)
  t.strictSame(stealth.refusals, [])
})

const forbidden: { name: string; act: (queue: Queue) => void }[] = [
  { name: 'publish a capture', act: (queue) => queue.publish(subjectOf('forged'), bytes()) },
  { name: 'subscribe to captures', act: (queue) => queue.subscribe('capture.>', () => {}) },
  { name: 'subscribe to results', act: (queue) => queue.subscribe('result.standard.*', () => {}) },
  { name: 'subscribe to all results', act: (queue) => queue.subscribe('result.*.*', () => {}) },
  { name: "subscribe to another pool's drain", act: (queue) => queue.subscribe('worker.stealth.*.drain', () => {}) },
  { name: "begin another pool's capture", act: (queue) => queue.publish('started.stealth.x', bytes()) },
  { name: "end another pool's capture", act: (queue) => queue.publish('result.stealth.x', bytes()) },
  { name: 'report for every pool', act: (queue) => queue.publish('result.*.x', bytes()) },
  ...['result.stealth.x', 'result.stealth.*', 'result.*.*', 'started.*.x'].map((subject) => ({
    name: `read ${subject}`,
    act: (queue: Queue) =>
      queue.publish(`$JS.API.DIRECT.GET.${resultsStream.name}.${subject}`, bytes(''), { reply: queue.newInbox() }),
  })),
  {
    name: "acknowledge another pool's capture",
    act: (queue) => queue.publish('$JS.ACK.CAPTURES.stealth-bulk.1.1.1.1.0', bytes()),
  },
  {
    name: "acknowledge the ledger's report by a reply subject",
    act: (queue) => queue.publish(result('x'), bytes(), { reply: `$JS.ACK.${resultsStream.name}.ledger.1.1.1.1.0` }),
  },
  { name: 'subscribe to responses to the services', act: (queue) => queue.subscribe('_R_.>', () => {}) },
  { name: 'subscribe to everything', act: (queue) => queue.subscribe('>', () => {}) },
  { name: "subscribe to the gateway's responses", act: (queue) => queue.subscribe('_INBOX_gateway.>', () => {}) },
  { name: 'publish an event', act: (queue) => queue.publish('event.a.b', bytes()) },
  { name: 'publish a heartbeat of another pool', act: (queue) => queue.publish('worker.stealth.p.beat', bytes()) },
  { name: 'drain another worker', act: (queue) => queue.publish('worker.standard.p.drain', bytes()) },
  {
    name: 'read a stored capture',
    act: (queue) =>
      queue.publish(`$JS.API.DIRECT.GET.${capturesStream.name}.${subjectOf('one')}`, bytes(''), {
        reply: queue.newInbox(),
      }),
  },
  {
    name: 'read a stored message by number',
    act: (queue) =>
      queue.publish(`$JS.API.STREAM.MSG.GET.${capturesStream.name}`, bytes('{"seq":1}'), { reply: queue.newInbox() }),
  },
  {
    name: 'read reports by number',
    act: (queue) =>
      queue.publish(`$JS.API.DIRECT.GET.${resultsStream.name}`, bytes('{"seq":1}'), { reply: queue.newInbox() }),
  },
  {
    name: 'create a consumer',
    act: (queue) =>
      queue.publish(`$JS.API.CONSUMER.CREATE.${capturesStream.name}.mine`, bytes('{}'), { reply: queue.newInbox() }),
  },
  {
    name: "pull another pool's captures",
    act: (queue) =>
      queue.publish(`$JS.API.CONSUMER.MSG.NEXT.${capturesStream.name}.stealth-normal`, bytes('1'), {
        reply: queue.newInbox(),
      }),
  },
  {
    name: 'purge a stream',
    act: (queue) =>
      queue.publish(`$JS.API.STREAM.PURGE.${capturesStream.name}`, bytes(''), { reply: queue.newInbox() }),
  },
  {
    name: 'delete a stream',
    act: (queue) =>
      queue.publish(`$JS.API.STREAM.DELETE.${capturesStream.name}`, bytes(''), { reply: queue.newInbox() }),
  },
]

t.test('local queue permissions: the server refuses everything else to a worker', async (t) => {
  for (const { name, act } of forbidden) t.match(await refused('worker_standard', act), /permissions violation/i, name)
})

t.test('local queue permissions: the server refuses stream changes by gateway and controller', async (t) => {
  const create = (queue: Queue) => queue.publish(`$JS.API.STREAM.CREATE.MINE`, bytes('{}'), { reply: queue.newInbox() })
  for (const name of ['gateway', 'controller'] as const) t.match(await refused(name, create), /permissions violation/i)
})

t.test('local queue permissions: these checks detect a user with all permissions', async (t) => {
  await t.rejects(
    refused('ledger', (queue) => queue.publish(`$JS.API.STREAM.INFO.${capturesStream.name}`, bytes(''))),
    { message: /a refusal to ledger/ },
  )
})

t.test('local queue permissions: no connection is accepted without a password', async (t) => {
  await t.rejects(connectQueue({ url: nats.url, name: 'x', inboxPrefix: '_INBOX_x', notice: () => {} }), {
    code: 'SERVICE_UNAVAILABLE',
  })
})
