import { inspect } from 'node:util'
import { runLedger } from '#ledger/app.ts'
import type { Ledger } from '#ledger/context.ts'
import { acceptCapture, type NewCapture } from '#gateway/db/accept-capture.ts'
import type { Database } from '#shared/db/connection.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { backlogCodec, type BacklogMessage, eventCodec, type EventMessage } from '#shared/queue/messages.ts'
import { lastMessage } from '#shared/queue/stored.ts'
import { backlogSubject, captureSubject, eventFilter } from '#shared/queue/subjects.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import { eventually } from './eventually.ts'
import { createTestLedger, openQueue } from './ledger.ts'
import type { TestNats } from './nats.ts'
import type { TestPostgres } from './postgres.ts'
import { openServiceDatabase } from './service-database.ts'
import { createTenant, type Tenant } from './tenant.ts'

/** Maximum number of admitted captures. */
export const windowSize = 16

/** Runs a ledger until the end of the test. Resolves when it is ready. */
export const runUntilTeardown = async (test: Parameters<typeof openQueue>[0], ledger: Ledger): Promise<void> => {
  const stop = new AbortController()
  const ready = Promise.withResolvers<void>()
  const running = runLedger(ledger, stop.signal, ready.resolve)
  test.teardown(async () => {
    stop.abort()
    await running
  })
  await Promise.race([ready.promise, running])
}

/** Starts a ledger on a new database and an empty queue. Records its events and backlogs. */
export const startLedger = async (
  test: Parameters<typeof openQueue>[0],
  servers: { readonly server: TestPostgres; readonly nats: TestNats },
  options: Partial<Ledger> = {},
) => {
  await servers.nats.wipe()
  const database = await servers.server.createDatabase(20)
  const queue = await openQueue(test, servers.nats.url)
  const own = await openServiceDatabase(database, 'ledger', 20)
  const ledger = createTestLedger(own, queue, options)
  test.teardown(async () => {
    await own[Symbol.asyncDispose]()
    // A loop that fails is repeated, which no test sees. tap does not end after a throw in a teardown.
    const denied = ledger.recordedEvents.map((each) => inspect(each)).find((each) => each.includes('permission denied'))
    if (denied === undefined) return
    process.exitCode = 1
    console.error(`the role of the ledger lacks a right: ${denied}`)
  })
  const ended: EventMessage[] = []
  queue.subscribe(eventFilter(), ({ data }) => ended.push(eventCodec.decode(data)))
  const backlogs: BacklogMessage[] = []
  queue.subscribe(backlogSubject('standard'), ({ data }) => backlogs.push(backlogCodec.decode(data)))
  await runUntilTeardown(test, ledger)
  const tenant = await createTenant(database)
  return { database, queue, ledger, ended, backlogs, tenant, endings: (id: string) => ended.filter((e) => e.id === id) }
}

/** A running ledger. */
export type RunningLedger = Awaited<ReturnType<typeof startLedger>>

/** Accepts a capture as the gateway does. */
export const accept = async (
  { database, tenant }: { database: Database; tenant: Tenant },
  more: Partial<NewCapture> = {},
) => {
  const capture = tenant.capture(more)
  const outcome = await acceptCapture(database, capture, { windowSize })
  if (!outcome.ok) throw new Error(outcome.code)
  return { ...capture, accountId: tenant.accountId, admitted: outcome.admitted }
}

/** The row of a capture; empty if it does not exist. */
export const row = async (database: Database, id: string) =>
  (await database.query<Record<string, unknown>>('select * from capture where id = $1', [id]))[0] ?? {}

/** Waits until a capture's row has this status. */
export const statusIs = (database: Database, id: string, status: string) =>
  eventually(async () => (await row(database, id))['status'] === status, { what: `${id} is ${status}` })

type Meters = Readonly<Record<'pending' | 'reserved' | 'settled' | 'admitted' | 'waiting' | 'processing', number>>

/** The tenant's meters, summed over all lanes. */
export const meters = async ({ database, tenant }: Pick<RunningLedger, 'database' | 'tenant'>) => {
  const statement = `select pending, reserved::integer, settled::integer, sum(admitted)::integer as admitted,
    sum(waiting)::integer as waiting, sum(processing)::integer as processing
    from account_meter join usage using (account_id) join lane_meter using (account_id)
    where account_id = $1 group by 1, 2, 3`
  return (await database.query<Meters>(statement, [tenant.accountId]))[0]
}

/** The message of a capture in the queue, if any. */
export const queued = async (queue: Queue, capture: Parameters<typeof captureSubject>[0]) =>
  (await lastMessage(queue, capturesStream.name, captureSubject(capture)))?.data
