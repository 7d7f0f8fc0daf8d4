import t from 'tap'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import { toDelivery } from '#shared/queue/pull.ts'

const storedAtMs = 1_795_248_000_123
const stored = `${storedAtMs}000000`

const storedAt = (reply: string) => toDelivery({} as Queue, { reply } as Incoming).storedAtMs

t.test('delivery: reads the storage time of its message, whether or not the reply subject has a domain', async (t) => {
  t.equal(storedAt(`$JS.ACK.results.ledger.1.20.10.${stored}.0`), storedAtMs)
  t.equal(storedAt(`$JS.ACK.hub.ACCOUNT.results.ledger.1.20.10.${stored}.0.random`), storedAtMs)
})
