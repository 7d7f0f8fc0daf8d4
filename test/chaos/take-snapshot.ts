import { manage } from '#shared/queue/stored.ts'
import { parseCaptureAccountId, captureFilter, parseCaptureId } from '#shared/queue/subjects.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import { objectsPrefix } from '#shared/storage/objects.ts'
import { meterDifferencesAfterDeletes } from '#test/helpers/meter-differences.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { connectToNats } from './connect-to-nats.ts'
import { sha256 } from './history.ts'
import type { CaptureRow, DeliveryRow, Snapshot, StoredObject } from './snapshot.ts'
import type { World } from './world.ts'

/** The accounts and captures of one run. */
export type Scope = {
  readonly accounts: readonly string[]
  readonly quotas: Readonly<Record<string, number>>
  /** Every id that a response showed. */
  readonly ids: ReadonlySet<string>
}

const settleMs = 30_000

const openWork = `
  select (select count(*) from capture where account_id = any ($1::uuid[]) and status in ('pending', 'processing'))
       + (select count(*) from outbox where account_id = any ($1::uuid[]))
       + (select count(*) from webhook_delivery where account_id = any ($1::uuid[]) and state = 'pending')
       + (select count(*) from deletion where account_id = any ($1::uuid[]) and due_at < now())
       + (select count(*) from object_removal where not_before < now()) as count`

/** Subjects of all messages in the stream. */
const readMessages = async (world: World): Promise<string[]> => {
  await using queue = await connectToNats(world)
  const { streams } = await manage(queue)
  const { state } = await streams.info(capturesStream.name, { subjects_filter: captureFilter() })
  return Object.keys(state.subjects ?? {})
}

/** Waits until nothing more is due for the accounts and no message of theirs is left, at most `withinMs`; the checker judges what is left. */
export const settle = async (world: World, accounts: readonly string[], withinMs: number): Promise<void> => {
  const isDone = async () => {
    const [row] = await world.database.query<{ count: string | number }>(openWork, [accounts])
    if (Number(row?.count) > 0) return false
    return !(await readMessages(world)).some((subject) => accounts.includes(parseCaptureAccountId(subject)))
  }
  await eventually(isDone, { withinMs }).catch(() => {})
}

const readObjects = async ({ objects }: World, ids: ReadonlySet<string>): Promise<StoredObject[]> => {
  const found: StoredObject[] = []
  for await (const key of objects.list(objectsPrefix)) {
    const captureId = key.split('/').at(-2) ?? ''
    const object = ids.has(captureId) ? await objects.get(key) : undefined
    if (!object) continue
    const parts = await Array.fromAsync(object.body as AsyncIterable<Buffer>)
    found.push({ key, captureId, sha256: sha256(Buffer.concat(parts)) })
  }
  return found
}

const captures = `
  select id::text as id, account_id::text as account, status, charge, error_code as "errorCode", attempts,
    object_key as "objectKey", sha256, file_size::float8 as "fileSize", coalesce(expires_at < now(), false) as "isExpired"
  from capture where account_id = any ($1::uuid[])`

const readRows = async ({ database }: World, { accounts }: Scope) => {
  const query = <Row extends object>(statement: string) => database.query<Row>(statement, [accounts])
  const ids = (statement: string) => query<{ id: string }>(statement).then((rows) => rows.map(({ id }) => id))
  const own = 'where account_id = any ($1::uuid[])'
  return {
    captures: await query<CaptureRow>(captures),
    deleted: await query<{ account: string; staysCharged: boolean }>(
      `select account_id::text as account, stays and is_charged as "staysCharged" from deleted ${own}`,
    ),
    usage: await query<{ account: string; reserved: number; settled: number }>(
      `select account_id::text as account, sum(reserved)::float8 as reserved, sum(settled)::float8 as settled
         from usage ${own} group by 1`,
    ),
    deliveries: await query<DeliveryRow>(
      `select capture_id::text as "captureId", regexp_replace(url, '^https://[^/]*', '') as path, state, attempts
         from webhook_delivery ${own}`,
    ),
    deletions: await ids(`select distinct capture_id::text as id from deletion ${own}`),
    outbox: await ids(`select capture_id::text as id from outbox ${own}`),
  }
}

const readAll = async (world: World, scope: Scope): Promise<Snapshot> => {
  const rows = await readRows(world, scope)
  const differences = await world.database.query(meterDifferencesAfterDeletes)
  const removals = await world.database.query<{ key: string }>('select key from object_removal')
  const ids = new Set([...scope.ids, ...rows.captures.map(({ id }) => id)])
  return {
    ...rows,
    quotas: scope.quotas,
    removals: removals.map(({ key }) => key),
    objects: await readObjects(world, ids),
    messages: (await readMessages(world)).map(parseCaptureId).filter((id) => ids.has(id)),
    meterDifferences: differences.map((difference) => JSON.stringify(difference)),
  }
}

/** Reads the state of all stores; retries while one of them is still starting, at most 30 s. */
export const takeSnapshot = async (world: World, scope: Scope): Promise<Snapshot> => {
  let snapshot: Snapshot | undefined
  const isRead = async () => (snapshot = await readAll(world, scope)) !== undefined
  await eventually(isRead, { withinMs: settleMs, what: 'all stores can be read' })
  return snapshot!
}
