import t from 'tap'
import { subscribeToPoolStates } from '#ledger/subscribe-to-pool-states.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Incoming } from '#shared/queue/connection.ts'
import { poolStateCodec } from '#shared/queue/messages.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'

const start = () => {
  const subscribers = new Map<string, (message: Incoming) => void>()
  const unreadable: Pool[] = []
  let nowMs = 1000
  const queue = {
    subscribe: (subject: string, onMessage: (message: Incoming) => void) => {
      subscribers.set(subject, onMessage)
      return { [Symbol.dispose]: () => void subscribers.delete(subject) }
    },
  }
  const events = { stateUnreadable: (pool: Pool) => void unreadable.push(pool) }
  const states = subscribeToPoolStates({ queue, events }, () => nowMs)
  const deliver = (pool: Pool, data: Uint8Array) =>
    subscribers.get(poolStateSubject(pool))?.({
      subject: poolStateSubject(pool),
      data,
      reply: undefined,
      traceparent: undefined,
      statusCode: 0,
    })
  return {
    states,
    unreadable,
    subscribers,
    deliver,
    report: (pool: Pool, canStart: boolean, forMs: number) =>
      deliver(pool, poolStateCodec.encode({ pool, canStart, forMs, reason: 'quota' })),
    wait: (ms: number) => (nowMs += ms),
  }
}

t.test('subscribe to pool states: a pool without a report does not count as unable to start', async (t) => {
  t.same(start().states.couldNotStartFor(0), [])
})

t.test('subscribe to pool states: returns the pools unable to start for at least the given time', async (t) => {
  const { states, report } = start()
  report('proxied', false, 300_000)
  report('stealth', false, 299_999)
  report('standard', true, 900_000)
  t.same(states.couldNotStartFor(300_000), ['proxied'])
  t.same(states.couldNotStartFor(299_999), ['stealth', 'proxied'])
  report('proxied', true, 0)
  t.same(states.couldNotStartFor(300_000), [])
})

t.test('subscribe to pool states: a report expires after five seconds', async (t) => {
  const { states, report, wait } = start()
  report('proxied', false, 300_000)
  wait(5000)
  t.same(states.couldNotStartFor(300_000), ['proxied'])
  wait(1)
  t.same(states.couldNotStartFor(300_000), [])
})

t.test('subscribe to pool states: reports malformed messages, and ignores their content', async (t) => {
  const { states, deliver, unreadable } = start()
  deliver('proxied', Buffer.from('{'))
  deliver('standard', poolStateCodec.encode({ pool: 'proxied', canStart: false, forMs: 900_000, reason: 'quota' }))
  t.same(unreadable, ['proxied', 'standard'])
  t.same(states.couldNotStartFor(0), [])
})

t.test('subscribe to pool states: unsubscribes when disposed', async (t) => {
  const { states, subscribers } = start()
  t.equal(subscribers.size, 3)
  states[Symbol.dispose]()
  t.equal(subscribers.size, 0)
})
