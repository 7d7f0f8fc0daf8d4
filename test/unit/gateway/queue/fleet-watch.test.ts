import t from 'tap'
import { FleetWatch } from '#gateway/queue/fleet-watch.ts'
import type { Incoming } from '#shared/queue/connection.ts'
import { decisionCodec, type DecisionMessage, heartbeatCodec, type HeartbeatMessage } from '#shared/queue/messages.ts'
import { backlogSubject, decisionSubject, heartbeatFilter } from '#shared/queue/subjects.ts'

/** A queue that delivers what a test publishes to the subscribers of a filter. */
const createBus = () => {
  const subscribers = new Map<string, (message: Incoming) => void>()
  return {
    subscribers,
    subscribe: (filter: string, receive: (message: Incoming) => void): Disposable => {
      subscribers.set(filter, receive)
      return { [Symbol.dispose]: () => subscribers.delete(filter) }
    },
    publish: (filter: string, data: Uint8Array = new Uint8Array()) =>
      subscribers.get(filter)?.({ subject: filter, data, reply: undefined, traceparent: undefined, statusCode: 0 }),
  }
}

const decision: DecisionMessage = {
  pool: 'standard',
  browserpool: 'big',
  desired: 2,
  min: 1,
  max: 4,
  ready: 1,
  decision: 'scale-up',
  reason: 'load',
}
const heartbeat: HeartbeatMessage = {
  pod: 'a',
  pool: 'standard',
  pid: 1,
  slots: 2,
  busy: 1,
  state: 'ready',
  captures: [],
}

t.test('fleet watch: keeps how the decisions on a pool changed, at most 200', async (t) => {
  let nowMs = 0
  const bus = createBus()
  using watch = new FleetWatch(bus, () => nowMs)
  const decide = (changed: Partial<DecisionMessage>) =>
    bus.publish(decisionSubject('standard'), decisionCodec.encode({ ...decision, ...changed }))
  decide({})
  decide({})
  const objectivesMs = { interactive: 2000, normal: 10_000, bulk: 120_000 }
  decide({ desired: 3, objectivesMs })
  nowMs = 500
  const [big] = watch.services().pools
  t.match(big, { browserpool: 'big', pool: 'standard', silentMs: 500, objectivesMs })
  t.match(big?.changes, [{ desired: 2, reason: 'load' }, { desired: 3 }])
  for (let desired = 0; desired < 300; desired += 1) decide({ desired })
  t.equal(watch.services().pools[0]?.changes.length, 200)
  t.equal(watch.services().pools[0]?.changes.at(-1)?.desired, 299)
  decide({ pool: 'stealth', browserpool: 'other' })
  bus.publish(decisionSubject('standard'), Buffer.from('{}'))
  t.equal(watch.services().pools.length, 1, 'of another queue, and unreadable')
  nowMs = 3_700_000
  t.same(watch.services().pools, [], 'without a decision for an hour')
})

t.test('fleet watch: the silence of the ledger is unknown before its first report', async (t) => {
  let nowMs = 0
  const bus = createBus()
  using watch = new FleetWatch(bus, () => nowMs)
  t.equal(watch.services().ledgerSilentMs, undefined)
  bus.publish(backlogSubject('proxied'))
  nowMs = 7000
  t.equal(watch.services().ledgerSilentMs, 7000)
})

t.test('fleet watch: subscribes to heartbeats once somebody looks, and forgets workers that are silent', async (t) => {
  let nowMs = 0
  const bus = createBus()
  const watch = new FleetWatch(bus, () => nowMs)
  const filter = heartbeatFilter('standard')
  t.notOk(bus.subscribers.has(filter))
  const reading = watch.workers()
  bus.publish(filter, heartbeatCodec.encode(heartbeat))
  bus.publish(filter, heartbeatCodec.encode({ ...heartbeat, pod: 'b', pool: 'stealth' }))
  bus.publish(filter, Buffer.from('no JSON'))
  t.match(await reading, [{ pod: 'a', busy: 1 }])
  nowMs = 10_001
  t.same(await watch.workers(), [])
  watch[Symbol.dispose]()
  t.same([...bus.subscribers.keys()], [])
})
