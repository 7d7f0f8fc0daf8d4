import { mock } from 'node:test'
import t from 'tap'
import { lanes } from '#shared/capture/lane.ts'
import type { Incoming } from '#shared/queue/connection.ts'
import { LanePuller } from '#worker/delivery/lane-puller.ts'
import { createQueueDouble } from '#test/helpers/queue-double.ts'
import { ackWaitSeconds } from '#shared/queue/topology.ts'

const never = new AbortController().signal
const settled = () => new Promise((resume) => setImmediate(resume))

/** A connection whose responses the test sends; a message without a subscription is lost, as with NATS. */
const createFakeQueue = () => {
  const subscriptions = new Map<string, (message: Incoming) => void>()
  const requests: { inbox: string; isNoWait: boolean; batch: number }[] = []
  const acks: string[] = []
  let inboxes = 0
  const queue = createQueueDouble({
    newInbox: () => `inbox-${(inboxes += 1)}`,
    subscribe: (subject: string, onMessage: (message: Incoming) => void) => {
      subscriptions.set(subject, onMessage)
      return { [Symbol.dispose]: () => void subscriptions.delete(subject) }
    },
    onReconnect: () => ({ [Symbol.dispose]: () => {} }),
    publish: (subject: string, data: Uint8Array, { reply }: { reply?: string } = {}) => {
      const text = Buffer.from(data).toString()
      if (reply) {
        const { batch, no_wait: isNoWait = false } = JSON.parse(text) as { batch: number; no_wait?: boolean }
        requests.push({ inbox: reply, isNoWait, batch })
      } else acks.push(subject === '$JS.ACK' ? text : `${text} ${subject}`)
    },
  })
  const answer = (inbox: string, statusCode: number, { account = 'a', reply = '$JS.ACK' } = {}) =>
    subscriptions.get(inbox)?.({
      subject: `capture.standard.normal.${account}.id`,
      data: new Uint8Array(),
      reply,
      traceparent: undefined,
      statusCode,
    })
  return { queue, requests, acks, answer, open: () => subscriptions.size }
}

const begin = async () => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const fake = createFakeQueue()
  const puller = new LanePuller(fake.queue, 'standard')
  const taken = puller.take(lanes, never)
  await settled()
  const [late = ''] = fake.requests.map(({ inbox }) => inbox)
  mock.timers.tick(2000)
  await settled()
  return { ...fake, puller, taken, late }
}

t.afterEach(() => mock.timers.reset())

t.test('no-wait pull: a late response goes to a waiting slot', async (t) => {
  const { answer, requests, taken, late, puller } = await begin()
  for (const { inbox } of requests.slice(1)) answer(inbox, 404)
  await settled()
  for (const { inbox } of requests.filter(({ isNoWait }) => isNoWait).slice(2)) answer(inbox, 404)
  await settled()
  answer(late, 0)
  t.match(await taken, { subject: 'capture.standard.normal.a.id' })
  puller[Symbol.dispose]()
})

t.test('no-wait pull: a late response is handed back if no slot waits', async (t) => {
  const { answer, requests, taken, late, acks, puller } = await begin()
  answer(requests.at(-1)?.inbox ?? '', 0)
  t.ok(await taken)
  answer(late, 0)
  t.same(acks, ['-NAK'], 'otherwise a worker that does not serve it would hold it')
  puller[Symbol.dispose]()
})

t.test('lanes: skips the no-wait pull of a lane with an open request', async (t) => {
  const { queue, answer, requests } = createFakeQueue()
  const puller = new LanePuller(queue, 'standard')
  const answerNow = async () => {
    for (const { inbox } of requests.filter(({ isNoWait }) => isNoWait)) answer(inbox, 404)
    await settled()
  }
  const first = puller.take(lanes, never)
  for (let lane = 0; lane < 3; lane += 1) await answerNow()
  const requestsBefore = requests.length
  const long = requests.findLast(({ isNoWait, inbox }) => !isNoWait && inbox.endsWith('.normal'))
  answer(long?.inbox ?? '', 0)
  t.ok(await first)
  const second = puller.take(lanes, never)
  await answerNow()
  t.same(
    requests.slice(requestsBefore).map(({ isNoWait }) => isNoWait),
    [false],
    'a single long request covers waiting and new captures of the lane that responded',
  )
  answer(long?.inbox ?? '', 0)
  t.ok(await second)
  puller[Symbol.dispose]()
})

t.test('waiting slots: a slot that prefers a capture takes it, else the one that has waited longest', async (t) => {
  const { queue, answer, requests } = createFakeQueue()
  const puller = new LanePuller(queue, 'standard')
  const taken: string[] = []
  const wait = (name: string, account: string) => {
    void puller.take(lanes, never, () => ({ accountId: account, mayPass: false })).then(() => taken.push(name))
  }
  wait('first', 'b')
  for (let lane = 0; lane < 3; lane += 1) {
    for (const { inbox } of requests.filter(({ isNoWait }) => isNoWait)) answer(inbox, 404)
    await settled()
  }
  for (const [name, account] of [
    ['second', 'a'],
    ['third', 'b'],
  ] as const) {
    wait(name, account)
    await settled()
  }
  const long = requests.findLast(({ isNoWait, inbox }) => !isNoWait && inbox.endsWith('.normal'))
  for (let capture = 0; capture < 3; capture += 1) {
    answer(long?.inbox ?? '', 0)
    await settled()
  }
  t.same(taken, ['second', 'first', 'third'])
  puller[Symbol.dispose]()
})

/** A slot that prefers account `a`, and the lane's answers: one of account `b` first, then `ahead`, then nothing more. */
const lookAhead = async (mayPass: boolean, ahead: readonly string[]) => {
  const { queue, answer, requests, acks } = createFakeQueue()
  const puller = new LanePuller(queue, 'standard')
  const taken = puller.take(lanes, never, () => ({ accountId: 'a', mayPass }))
  answer(requests.at(-1)?.inbox ?? '', 0, { account: 'b', reply: 'first' })
  await settled()
  const { inbox = '', batch = 0 } = requests.at(-1) ?? {}
  for (const [index, account] of ahead.entries()) answer(inbox, 0, { account, reply: `next-${index}` })
  if (ahead.length < batch) answer(inbox, 404)
  const { subject } = (await taken) ?? {}
  puller[Symbol.dispose]()
  return { subject, acks, batch }
}

t.test(
  'preferred account: its next capture is taken, and those before and behind it are handed back in order',
  async (t) => {
    const { subject, acks, batch } = await lookAhead(true, ['c', 'a', 'a', 'd'])
    t.equal(subject, 'capture.standard.normal.a.id')
    t.equal(batch, 32)
    t.same(acks, ['-NAK first', '-NAK next-0', '-NAK next-2', '-NAK next-3'])
  },
)

t.test('preferred account: without a capture of it the first of the lane is taken', async (t) => {
  for (const ahead of [[], ['c', 'd'], Array.from({ length: 32 }, () => 'c')]) {
    const { subject, acks } = await lookAhead(true, ahead)
    t.equal(subject, 'capture.standard.normal.b.id')
    t.same(
      acks,
      ahead.map((_account, index) => `-NAK next-${index}`),
    )
  }
})

/** Takes so many captures of account `b` for a slot that prefers another; counts the deliveries of others that it moved in vain. */
const movedInVain = async (captures: number, preferred: (capture: number) => string) => {
  const { queue, answer, requests, acks } = createFakeQueue()
  using puller = new LanePuller(queue, 'standard')
  for (let capture = 0; capture < captures; capture += 1) {
    const before = requests.length
    const taken = puller.take(lanes, never, () => ({ accountId: preferred(capture), mayPass: true }))
    answer(requests[before]?.inbox ?? '', 0, { account: 'b' })
    await settled()
    const { inbox = '', batch = 0 } = requests[before + 1] ?? {}
    for (let ahead = 0; ahead < batch; ahead += 1) answer(inbox, 0, { account: ahead === batch - 1 ? 'z' : 'c' })
    await taken
  }
  return acks.filter((ack) => ack.startsWith('-NAK')).length
}

t.test('preferred account: in a lane of many accounts few captures are moved in vain', async (t) => {
  const captures = 200
  const moved = await movedInVain(captures, () => 'a')
  t.ok(moved / captures < 6, `${moved} for ${captures}`)
})

t.test('preferred account: is looked for again at once after a run has ended', async (t) => {
  t.equal(await movedInVain(20, (capture) => (capture % 2 === 0 ? 'z' : 'a')), 20 * 32)
})

t.test('preferred account: passes no other once its run has ended', async (t) => {
  const { subject, acks, batch } = await lookAhead(false, [])
  t.equal(subject, 'capture.standard.normal.b.id')
  t.equal(batch, 1)
  t.same(acks, [])
})

t.test('preferred account: passes no other if its run ends while the slot waits', async (t) => {
  const { queue, answer, requests } = createFakeQueue()
  using puller = new LanePuller(queue, 'standard')
  let mayPass = true
  const taken = puller.take(['normal'], never, () => ({ accountId: 'a', mayPass }))
  await settled()
  mayPass = false
  answer(requests.at(-1)?.inbox ?? '', 0, { account: 'b' })
  await settled()
  t.equal(requests.length, 1, 'no look ahead')
  t.equal((await taken)?.subject, 'capture.standard.normal.b.id')
})

t.test('no-wait pull: unsubscribes once the response has arrived or is lost', async (t) => {
  const { answer, requests, taken, open, puller } = await begin()
  const before = open()
  answer(requests.at(-1)?.inbox ?? '', 0)
  await taken
  t.equal(open(), before - 1)
  mock.timers.tick(ackWaitSeconds * 1000)
  t.equal(open(), before - 2)
  puller[Symbol.dispose]()
  t.equal(open(), 0)
})
