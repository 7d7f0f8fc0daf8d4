import { eventually } from './eventually.ts'
import { startPostgres } from './postgres.ts'
import { openServiceDatabase } from './service-database.ts'
import { type Behaviour, makeCertificate, startReceiver } from './webhook-receiver.ts'
import { hookNames, newTenant, startReceiverFilter } from './webhook-sender.ts'

type Row = { state: string; attempts: number; next: string | null; putOff: boolean }
type WithTeardown = { teardown: (clean: () => Promise<void>) => void }

/**
 * Starts PostgreSQL and creates a certificate for one test file; returns a factory of a database, which senders open under their
 * role, a receiver and a filter in front of it for one test. `resolve` maps names to addresses; by default the receiver's.
 */
export const startWebhookWorld = async (t: WithTeardown) => {
  const server = await startPostgres(t)
  const certificate = await makeCertificate(hookNames)
  t.teardown(async () => certificate[Symbol.asyncDispose]())

  return async (
    behave: (path: string, nth: number) => Behaviour | Promise<Behaviour> = () => 204,
    resolve?: (name: string) => readonly string[],
  ) => {
    const database = await server.createDatabase()
    const receiver = await startReceiver(certificate, behave)
    const filter = await startReceiverFilter(receiver, resolve)
    const tenant = await newTenant(database)
    const own = await openServiceDatabase(database, 'webhooks')
    t.teardown(async () => own[Symbol.asyncDispose]())
    const environment = { database: own, egressPort: filter.port, certificate }
    const deliveries = (captureId: string) =>
      database.query<Row>(
        `select state, attempts, next_attempt_at as next, leased_until is null and next_attempt_at > created_at as "putOff"
           from webhook_delivery where capture_id = $1`,
        [captureId],
      )
    const attempts = (captureId: string) =>
      database.query<{ number: number; status: number | null; error: string | null; ms: number }>(
        `select a.number, a.status, a.error, a.ms from webhook_attempt a join webhook_delivery d on d.id = a.delivery_id
          where d.capture_id = $1 order by a.number`,
        [captureId],
      )
    const ended = (id: string, state: string) =>
      eventually(async () => (await deliveries(id)).every((row) => row.state === state), { what: `all are ${state}` })
    return {
      database,
      receiver,
      filter,
      tenant,
      on: environment,
      deliveries,
      attempts,
      ended,
      [Symbol.asyncDispose]: async () => {
        await filter[Symbol.asyncDispose]()
        await receiver[Symbol.asyncDispose]()
      },
    }
  }
}
