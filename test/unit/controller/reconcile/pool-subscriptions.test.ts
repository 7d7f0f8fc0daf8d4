import t from 'tap'
import { emptyBacklog } from '#controller/decide/pool.ts'
import { openPoolSubscriptions } from '#controller/reconcile/pool-subscriptions.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import { backlogCodec, type HeartbeatMessage, heartbeatCodec, startedCodec } from '#shared/queue/messages.ts'
import { backlogSubject, heartbeatSubject, poolWakeupSubject, startedSubject } from '#shared/queue/subjects.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'

const id = '00000000-0000-4000-8000-000000000000'

const setUp = () => {
  const clock = createHandClock()
  const handlers = new Map<RegExp, (message: Incoming) => void>()
  const subscribe: Queue['subscribe'] = (filter, handle) => {
    const pattern = new RegExp(`^${filter.replaceAll('.', '\\.').replaceAll('*', '[^.]+')}$`)
    handlers.set(pattern, handle)
    return { [Symbol.dispose]: () => handlers.delete(pattern) }
  }
  const subscriptions = openPoolSubscriptions({ queue: { subscribe }, clock, malformed: () => {} })
  const notified: Pool[] = []
  subscriptions.onChange((kind) => notified.push(kind))
  const publish = (subject: string, data: Uint8Array = new Uint8Array()) => {
    for (const [pattern, handle] of handlers) {
      if (pattern.test(subject)) handle({ subject, data, reply: undefined, traceparent: undefined, statusCode: 0 })
    }
  }
  const { lanes } = emptyBacklog
  const count = (pool: Pool) =>
    publish(backlogSubject(pool), backlogCodec.encode({ pool, pending: 1, processing: 0, oldestMs: 0, lanes }))
  const heartbeat = (pool: Pool, given: Partial<HeartbeatMessage> = {}) => {
    const whole = { pod: 'a', pool, pid: 1, slots: 1, busy: 0, state: 'ready' as const, captures: [], ...given }
    publish(heartbeatSubject({ pool, pod: whole.pod }), heartbeatCodec.encode(whole))
  }
  return { clock, subscriptions, notified, publish, count, heartbeat, handlers }
}

t.test('pool subscriptions: each kind of pool has its own subscription', async (t) => {
  const { subscriptions, count, heartbeat } = setUp()
  count('standard')
  heartbeat('stealth', { pod: 's' })
  t.match(subscriptions.forPool('standard').backlog(), { pending: 1 })
  t.equal(subscriptions.forPool('stealth').backlog(), 'unknown')
  t.strictSame([...subscriptions.forPool('stealth').heartbeats.keys()], ['s'])
  t.strictSame([...subscriptions.forPool('standard').heartbeats.keys()], [])
})

t.test('pool subscriptions: a wakeup or a change of state wakes the kind, a repeated heartbeat does not', async (t) => {
  const { notified, publish, heartbeat } = setUp()
  publish(poolWakeupSubject('stealth'))
  heartbeat('standard')
  heartbeat('standard')
  heartbeat('standard', { busy: 1 })
  heartbeat('standard', { state: 'drained' })
  t.strictSame(notified, ['stealth', 'standard', 'standard'])
})

t.test('pool subscriptions: reports of Job workers are kept, and wake the kind', async (t) => {
  const { subscriptions, notified, publish, heartbeat } = setUp()
  heartbeat('proxied', { pod: 'job-1' })
  publish(startedSubject({ pool: 'proxied', id }), startedCodec.encode({ id, attempt: 1, kind: 'begun', pod: 'job-1' }))
  t.match(subscriptions.reports.get('job-1'), { captureId: id })
  t.strictSame(notified, ['proxied', 'proxied'])
})

t.test(
  'pool subscriptions: a wakeup of Jobs wakes again, until all captures of a tenth of a second are there',
  async (t) => {
    const { notified, publish } = setUp()
    publish(poolWakeupSubject('proxied'))
    t.strictSame(notified, ['proxied'])
    await eventually(() => notified.length === 3)
  },
)

const waits = async (run: (world: ReturnType<typeof setUp>) => Promise<void>, pods: readonly string[] = []) => {
  const world = setUp()
  let hasHeard = false
  const { signal } = new AbortController()
  void world.subscriptions.waitForSync('standard', () => pods, signal).then(() => (hasHeard = true))
  await run(world)
  return hasHeard
}

t.test('pool subscriptions: synced after a backlog report and one heartbeat interval', async (t) => {
  t.notOk(await waits(({ clock }) => clock.advance(4900)))
  t.notOk(
    await waits(async ({ clock, count }) => {
      count('standard')
      await clock.advance(2400)
    }),
  )
  t.ok(
    await waits(async ({ clock, count }) => {
      count('standard')
      await clock.advance(2500)
    }),
  )
})

t.test('pool subscriptions: not synced before the heartbeat of each ready worker', async (t) => {
  const hasHeard = (pod: string) =>
    waits(
      async ({ clock, count, heartbeat }) => {
        count('standard')
        heartbeat('standard', { pod })
        await clock.advance(2500)
      },
      ['a'],
    )
  t.ok(await hasHeard('a'))
  t.notOk(await hasHeard('b'))
})

t.test('pool subscriptions: the wait for the sync ends after five seconds', async (t) => {
  t.ok(await waits(({ clock }) => clock.advance(5000)))
})

t.test('pool subscriptions: receives nothing once disposed', async (t) => {
  const { subscriptions, handlers } = setUp()
  t.ok(handlers.size > 0)
  subscriptions[Symbol.dispose]()
  t.equal(handlers.size, 0)
})
