import t from 'tap'
import { createWakeup } from '#shared/process/wakeup.ts'
import { createEvents } from '#ledger/telemetry/events.ts'
import { applyDeliveries, takeBatch } from '#ledger/reports/consume-reports.ts'
import type { Database, Sql } from '#shared/db/connection.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { ErrorCode } from '#shared/errors/catalog.ts'
import { startedCodec } from '#shared/queue/messages.ts'
import { resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import type { Delivery } from '#shared/queue/pull.ts'
import type { StandingPull } from '#ledger/reports/standing-pull.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'

const captureId = (digit: number) => `${String(digit).repeat(8)}-1111-4111-8111-111111111111`

/** Deliveries that record their acks and naks, and a ledger whose database rejects every statement about `poison`. */
const setUp = (refusal: { poison: string; code: ErrorCode; cause?: unknown }) => {
  const replies: string[] = []
  const delivery = (name: string, subject: string, data: Uint8Array) => ({
    subject,
    data,
    traceparent: undefined,
    storedAtMs: 0,
    ack: () => void replies.push(`${name} ack`),
    nak: () => void replies.push(`${name} nak`),
    working: () => {},
  })
  const query = async (_text: string, [ids]: readonly unknown[] = []) => {
    const { poison, code, cause } = refusal
    if ((ids as string[]).includes(poison)) throw new AppError(code, { cause })
    return []
  }
  const transaction = ((work: (sql: Sql) => Promise<unknown>) => work({ query })) as Database['transaction']
  const ledger = {
    database: { query, transaction },
    queue: { publish: () => {} },
    events: createEvents(createLogger({ service: 'ledger', level: 'silent' }), createMetrics('ledger')),
    relayWakeup: createWakeup(),
  }
  const begun = (digit: number) => {
    const id = captureId(digit)
    const data = startedCodec.encode({ id, attempt: 1, kind: 'begun', pod: 'pod' })
    return delivery(String(digit), startedSubject({ pool: 'standard', id }), data)
  }
  return { replies, ledger, begun, delivery }
}

t.test(
  'consume reports: a report that PostgreSQL rejects is redelivered alone, without delaying the others',
  async (t) => {
    const { replies, ledger, begun } = setUp({ poison: captureId(2), code: 'SERVER_ERROR' })
    await applyDeliveries(ledger, [begun(1), begun(2), begun(3)])
    t.same(replies, ['1 ack', '2 nak', '3 ack'])
  },
)

t.test('consume reports: redelivers the whole batch while PostgreSQL is unreachable', async (t) => {
  const { replies, ledger, begun } = setUp({ poison: captureId(2), code: 'SERVICE_UNAVAILABLE' })
  await applyDeliveries(ledger, [begun(1), begun(2), begun(3)])
  t.same(replies, ['1 nak', '2 nak', '3 nak'])
})

for (const cause of [{ code: '57014' }, { code: '55P03' }]) {
  t.test(
    `consume reports: after the time-out ${cause.code} only what takes too long alone is redelivered`,
    async (t) => {
      const { replies, ledger, begun } = setUp({ poison: captureId(2), code: 'SERVICE_UNAVAILABLE', cause })
      await applyDeliveries(
        ledger,
        Array.from({ length: 8 }, (_, nth) => begun(nth + 1)),
      )
      t.same(replies, ['5 ack', '6 ack', '7 ack', '8 ack', '3 ack', '4 ack', '1 ack', '2 nak'])
    },
  )
}

t.test('consume reports: a PostgreSQL that ends nothing in time is tried a bounded number of times', async (t) => {
  const slow = { poison: captureId(1), code: 'SERVICE_UNAVAILABLE', cause: { code: '57014' } } as const
  const { replies, ledger, begun } = setUp(slow)
  let failures = 0
  const events = { ...ledger.events, reportsFailed: () => void (failures += 1) }
  await applyDeliveries(
    { ...ledger, events },
    Array.from({ length: 100 }, () => begun(1)),
  )
  t.equal(failures, 17)
  t.equal(replies.length, 100)
})

t.test('consume reports: acknowledges and drops malformed reports', async (t) => {
  const { replies, ledger, begun, delivery } = setUp({ poison: '', code: 'SERVER_ERROR' })
  await applyDeliveries(ledger, [
    delivery('x', startedSubject({ pool: 'standard', id: captureId(1) }), Buffer.from('{')),
    begun(1),
  ])
  t.same(replies, ['x ack', '1 ack'])
})

const never = new AbortController().signal

/** A pull that returns one delivery after another, each after `afterMs`. */
const pullOf = (deliveries: readonly Delivery[], afterMs: number): StandingPull => {
  const left = [...deliveries]
  return {
    take: async (signal) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, left.length > 0 ? afterMs : 60_000)
      signal.addEventListener('abort', () => resolve())
      await promise
      clearTimeout(timer)
      return signal.aborted ? [] : left.splice(0, 1)
    },
    [Symbol.dispose]: () => {},
  }
}

t.test('starts: wait briefly for a result in the same batch, and go on alone without one', async (t) => {
  const { begun, delivery } = setUp({ poison: '', code: 'SERVER_ERROR' })
  const result = delivery('r', resultSubject({ pool: 'standard', id: captureId(3) }), Buffer.of())
  const [one, two] = [begun(1), begun(2)]
  t.strictSame(await takeBatch(pullOf([one, two, result, begun(4)], 20), never), [one, two, result])
  t.strictSame(await takeBatch(pullOf([result, one], 0), never), [result], 'a result is returned at once')
  t.strictSame(await takeBatch(pullOf([one], 0), never), [one])
})
