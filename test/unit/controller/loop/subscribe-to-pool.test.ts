import t from 'tap'
import { type PoolSubscriptionDeps, subscribeToPool } from '#controller/loop/subscribe-to-pool.ts'
import { emptyBacklog } from '#controller/decide/pool.ts'
import type { Incoming } from '#shared/queue/connection.ts'
import {
  backlogCodec,
  type BacklogMessage,
  heartbeatCodec,
  type HeartbeatMessage,
  type StartedMessage,
  startedCodec,
} from '#shared/queue/messages.ts'
import {
  backlogSubject,
  heartbeatFilter,
  heartbeatSubject,
  startedFilter,
  startedSubject,
} from '#shared/queue/subjects.ts'

const pool = 'standard'
const quiet: BacklogMessage = { pool, pending: 0, processing: 0, oldestMs: 0, lanes: emptyBacklog.lanes }

/** A subscription whose clock and messages the test controls. */
const begin = (more: Partial<PoolSubscriptionDeps> = {}) => {
  const subscribers = new Map<string, (message: Incoming) => void>()
  const malformed: string[] = []
  const changes: [HeartbeatMessage, HeartbeatMessage | undefined][] = []
  const clock = { nowMs: 100_000 }
  const subscription = subscribeToPool(
    {
      queue: {
        subscribe: (filter, onMessage) => {
          subscribers.set(filter, onMessage)
          return { [Symbol.dispose]: () => void subscribers.delete(filter) }
        },
      },
      now: () => clock.nowMs,
      malformed: (subject) => malformed.push(subject),
      changed: (...change) => changes.push(change),
      ...more,
    },
    pool,
  )
  const send = (filter: string, subject: string, data: Uint8Array) =>
    subscribers.get(filter)?.({ subject, data, reply: undefined, traceparent: undefined, statusCode: 0 })
  const heartbeat = (pod: string, given: Partial<HeartbeatMessage> = {}, from = pod) => {
    const message: HeartbeatMessage = { pod, pool, pid: 1, slots: 2, busy: 0, state: 'ready', captures: [], ...given }
    send(heartbeatFilter(pool), heartbeatSubject({ pool, pod: from }), heartbeatCodec.encode(message))
  }
  const backlog = (given: Partial<BacklogMessage> = {}) =>
    send(backlogSubject(pool), backlogSubject(pool), backlogCodec.encode({ ...quiet, ...given }))
  /** Advances the clock, with a backlog message every second. */
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      clock.nowMs += 1000
      backlog()
    }
  }
  return { subscription, clock, subscribers, malformed, changes, send, heartbeat, backlog, pass }
}

t.test('subscribe to pool: the backlog is unknown before the first message and five seconds after the last', (t) => {
  const { subscription, backlog, clock } = begin()
  t.equal(subscription.backlog(), 'unknown')
  backlog({ pending: 3 })
  clock.nowMs += 5000
  t.match(subscription.backlog(), { pending: 3 })
  clock.nowMs += 1
  t.equal(subscription.backlog(), 'unknown')
  t.end()
})

t.test('subscribe to pool: the backlog of a ledger at rest is known until two more counts should have come', (t) => {
  const { subscription, clock, heartbeat, backlog } = begin()
  const nextMs = 10_000
  backlog({ nextMs })
  heartbeat('pod')
  clock.nowMs += 2 * nextMs + 1000
  t.not(subscription.backlog(), 'unknown')
  backlog({ nextMs })
  t.equal(subscription.listeningMs(100_000), 2 * nextMs + 1000, 'a gap of as long breaks no series')
  clock.nowMs += 2 * nextMs + 1001
  t.equal(subscription.backlog(), 'unknown')
  t.end()
})

t.test('subscribe to pool: a backlog has the counts of each lane', (t) => {
  const { subscription, backlog, clock } = begin()
  const atMs = clock.nowMs
  const counts = { pending: 3, processing: 2, oldestMs: 700 }
  const lanes = { ...quiet.lanes, bulk: { ...counts, accepted: 9 } }
  backlog({ ...counts, lanes })
  t.strictSame(subscription.backlog(), { ...counts, atMs, lanes })
  t.end()
})

t.test('subscribe to pool: keeps the newest heartbeat of each worker with its time of arrival', (t) => {
  const { subscription, heartbeat, clock } = begin()
  heartbeat('a')
  clock.nowMs += 1000
  heartbeat('b', { busy: 1 })
  heartbeat('a', { state: 'draining' })
  clock.nowMs += 1000
  heartbeat('a', { state: 'draining' })
  t.match(subscription.heartbeats.get('a'), { heartbeat: { state: 'draining' }, atMs: 102_000 })
  t.match(subscription.heartbeats.get('b'), { heartbeat: { busy: 1 }, atMs: 101_000 })
  t.end()
})

t.test('subscribe to pool: reports a heartbeat only if it differs from the last', (t) => {
  const { heartbeat, changes } = begin()
  heartbeat('a')
  heartbeat('a')
  heartbeat('a', { busy: 1 })
  heartbeat('a', { busy: 1 })
  t.match(changes, [
    [{ pod: 'a', busy: 0 }, undefined],
    [
      { pod: 'a', busy: 1 },
      { pod: 'a', busy: 0 },
    ],
  ])
  t.equal(changes.length, 2)
  t.end()
})

t.test('subscribe to pool: keeps messages although their buffer is reused', (t) => {
  const { subscription, send, heartbeat, clock } = begin()
  const message: HeartbeatMessage = { pod: 'a', pool, pid: 1, slots: 2, busy: 0, state: 'ready', captures: [] }
  const data = Buffer.from(heartbeatCodec.encode(message))
  send(heartbeatFilter(pool), heartbeatSubject({ pool, pod: 'a' }), data)
  data.fill(0)
  clock.nowMs += 1000
  send(heartbeatFilter(pool), heartbeatSubject({ pool, pod: 'a' }), data)
  t.match(subscription.heartbeats.get('a'), { atMs: 100_000 }, 'different bytes are not a repeated heartbeat')
  heartbeat('a')
  t.match(subscription.heartbeats.get('a'), { atMs: 101_000 })
  t.end()
})

t.test('subscribe to pool: counts only time without a gap in backlog messages', (t) => {
  const { subscription, backlog, clock, pass } = begin()
  t.equal(subscription.listeningMs(0), 0)
  backlog()
  pass(3)
  t.equal(subscription.listeningMs(0), 3000)
  t.equal(subscription.listeningMs(102_000), 1000)
  clock.nowMs += 40_000
  t.equal(subscription.listeningMs(0), 3000)
  backlog()
  t.equal(subscription.listeningMs(0), 0, 'the count restarts after a gap')
  pass(2)
  t.equal(subscription.listeningMs(0), 2000)
  t.end()
})

t.test('subscribe to pool: removes a worker after a minute of silence without a gap in backlog messages', (t) => {
  const { subscription, heartbeat, clock, pass } = begin()
  pass(1)
  heartbeat('a')
  clock.nowMs += 600_000
  pass(61)
  t.ok(subscription.heartbeats.has('a'), 'the gap does not count')
  pass(11)
  t.notOk(subscription.heartbeats.has('a'), 'silence is checked every ten seconds')
  t.end()
})

t.test('subscribe to pool: keeps at most 4096 workers', (t) => {
  const { subscription, heartbeat } = begin()
  for (let turn = 0; turn <= 4096; turn += 1) heartbeat(`worker-${turn}`)
  t.equal(subscription.heartbeats.size, 4096)
  heartbeat('worker-0', { busy: 2 })
  t.equal(subscription.heartbeats.get('worker-0')?.heartbeat.busy, 2)
  t.end()
})

t.test(
  'subscribe to pool: ignores and reports malformed messages, and messages with the name of another worker',
  (t) => {
    const { subscription, send, heartbeat, malformed } = begin()
    send(heartbeatFilter(pool), 'worker.standard.up.beat', Buffer.from('{'))
    send(backlogSubject(pool), 'backlog.standard', Buffer.from('{}'))
    heartbeat('up', { busy: 2 }, 'other')
    t.equal(subscription.backlog(), 'unknown')
    t.equal(subscription.heartbeats.size, 0)
    t.strictSame(malformed, ['worker.standard.up.beat', 'backlog.standard', 'worker.standard.other.beat'])
    t.end()
  },
)

t.test('subscribe to pool: subscribes to started reports only with a handler', (t) => {
  t.notOk(begin().subscribers.has(startedFilter(pool)))
  const started: StartedMessage[] = []
  const { send, malformed } = begin({ started: (message) => started.push(message) })
  const message: StartedMessage = { id: crypto.randomUUID(), attempt: 1, kind: 'begun', pod: 'a' }
  const bytes = startedCodec.encode(message)
  send(startedFilter(pool), startedSubject({ pool, id: message.id }), bytes)
  const other = startedSubject({ pool, id: crypto.randomUUID() })
  send(startedFilter(pool), other, bytes)
  t.strictSame(started, [message])
  t.strictSame(malformed, [other])
  t.end()
})

t.test('subscribe to pool: unsubscribes when disposed', (t) => {
  const { subscription, subscribers } = begin({ started: () => {} })
  t.equal(subscribers.size, 3)
  subscription[Symbol.dispose]()
  t.equal(subscribers.size, 0)
  t.end()
})
