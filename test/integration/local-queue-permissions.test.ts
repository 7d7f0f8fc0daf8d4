import t from 'tap'
import { usersText } from '#local/nats-config.ts'
import { connectQueue, type Queue, type QueueNotice } from '#shared/queue/connection.ts'
import { LanePuller } from '#shared/queue/lane-puller.ts'
import { inboxPrefixOf, type QueueUserName, queueUsers } from '#shared/queue/permissions.ts'
import { lastStored, publishStored } from '#shared/queue/stored.ts'
import { declareStreams, poolDepth, streamsExist, unreadReports } from '#shared/queue/streams.ts'
import {
  beatFilter,
  beatSubject,
  captureSubject,
  drainSubject,
  resultSubject,
  startedSubject,
} from '#shared/queue/subjects.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'

const passwords = Object.fromEntries(queueUsers.map(({ name }) => [name, `secret-of-${name}`])) as Record<
  QueueUserName,
  string
>
const nats = await startNats(t, { config: usersText(passwords) })
const bytes = (text = 'x') => Buffer.from(text)

/** Connects as a user; `refusals` collects what the server refused. */
const connectAs = async (name: QueueUserName, inboxPrefix = inboxPrefixOf(name)) => {
  const refusals: string[] = []
  const notice = ({ kind, detail }: QueueNotice) => {
    if (kind === 'error') refusals.push(detail)
  }
  const url = nats.url.replace('://', `://${name}:${passwords[name]}@`)
  const queue = await connectQueue({ url, name, inboxPrefix, notice })
  t.teardown(() => queue[Symbol.asyncDispose]())
  return { queue, refusals }
}

const ledger = await connectAs('ledger')
await declareStreams(ledger.queue)
const gateway = await connectAs('gateway')
const controller = await connectAs('controller')
const worker = await connectAs('worker_standard')

const of = { pool: 'standard', lane: 'normal', accountId: 'a' } as const
const subjectOf = (id: string) => captureSubject({ ...of, id })

/** Publishes what must be refused and waits until the server has said so. */
const refused = async (name: QueueUserName, act: (queue: Queue) => void) => {
  const { queue, refusals } = await connectAs(name)
  act(queue)
  await eventually(() => refusals.length > 0, { withinMs: 2000, what: `a refusal to ${name}` })
  return refusals[0] ?? ''
}

t.test('a worker takes a capture of its pool, reports, reads reports back and hears its drain', async (t) => {
  t.equal(await publishStored(gateway.queue, subjectOf('one'), bytes('one')), 'stored')
  using puller = new LanePuller(worker.queue, 'standard')
  const delivery = await puller.take(0, AbortSignal.timeout(10_000))
  t.equal(Buffer.from(delivery?.data ?? []).toString(), 'one')
  await publishStored(worker.queue, startedSubject('one'), bytes('begun'))
  await publishStored(worker.queue, resultSubject('one'), bytes('done'))
  const read = await lastStored(worker.queue, resultsStream.name, resultSubject('one'))
  t.equal(Buffer.from(read ?? []).toString(), 'done')
  delivery?.ack()
  await eventually(async () => (await poolDepth(controller.queue, 'standard')).inFlight === 0)
  t.equal(await unreadReports(ledger.queue), 2)

  const drained = Promise.withResolvers<void>()
  const beaten = Promise.withResolvers<void>()
  using _drain = worker.queue.subscribe(drainSubject({ pool: 'standard', pod: 'p' }), () => drained.resolve())
  using _beat = controller.queue.subscribe(beatFilter('standard'), () => beaten.resolve())
  await poolDepth(controller.queue, 'standard')
  await lastStored(worker.queue, resultsStream.name, resultSubject('one'))
  controller.queue.publish(drainSubject({ pool: 'standard', pod: 'p' }), bytes())
  worker.queue.publish(beatSubject({ pool: 'standard', pod: 'p' }), bytes())
  await Promise.all([drained.promise, beaten.promise])
  t.strictSame([worker.refusals, controller.refusals, ledger.refusals], [[], [], []])
})

t.test('the gateway sees whether the streams exist', async (t) => {
  t.equal(await streamsExist(gateway.queue), true)
  t.strictSame(gateway.refusals, [])
})

const forbidden: { name: string; act: (queue: Queue) => void }[] = [
  { name: 'publish a capture', act: (queue) => queue.publish(subjectOf('forged'), bytes()) },
  { name: 'hear captures', act: (queue) => queue.subscribe('capture.>', () => {}) },
  { name: 'hear other results', act: (queue) => queue.subscribe('result.*', () => {}) },
  { name: 'hear everything', act: (queue) => queue.subscribe('>', () => {}) },
  { name: "hear the gateway's answers", act: (queue) => queue.subscribe('_INBOX_gateway.>', () => {}) },
  { name: 'publish an event', act: (queue) => queue.publish('event.a.b', bytes()) },
  { name: 'speak for another pool', act: (queue) => queue.publish('worker.stealth.p.beat', bytes()) },
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

t.test('the server refuses that a worker should', async (t) => {
  for (const { name, act } of forbidden) t.match(await refused('worker_standard', act), /permissions violation/i, name)
})

t.test('the server refuses that gateway and controller change streams', async (t) => {
  const create = (queue: Queue) => queue.publish(`$JS.API.STREAM.CREATE.MINE`, bytes('{}'), { reply: queue.newInbox() })
  for (const name of ['gateway', 'controller'] as const) t.match(await refused(name, create), /permissions violation/i)
})

t.test('a user who may do anything is caught by these checks', async (t) => {
  await t.rejects(
    refused('ledger', (queue) => queue.publish(`$JS.API.STREAM.INFO.${capturesStream.name}`, bytes(''))),
    { message: /a refusal to ledger/ },
  )
})

t.test('nobody connects without a password', async (t) => {
  await t.rejects(connectQueue({ url: nats.url, name: 'x', inboxPrefix: '_INBOX_x', notice: () => {} }), {
    code: 'SERVICE_UNAVAILABLE',
  })
})
