import { presenceOf } from '#shared/db/move-account.ts'
import { manage } from '#shared/queue/stored.ts'
import { parseCaptureAccountId, captureFilter, parseCaptureId } from '#shared/queue/subjects.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import { objectsPrefix } from '#shared/storage/objects.ts'
import { meterDifferencesAfterDeletes } from '#test/helpers/meter-differences.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { connectToNats } from './connect-to-nats.ts'
import { sha256 } from './history.ts'
import { readOldRows } from './old-rows.ts'
import type { CaptureRow, DeliveryRow, MovableAccount, Snapshot, StoredObject, WebhookRow } from './snapshot.ts'
import { type World, worldRecords } from './world.ts'

/** The accounts and captures of one run. */
export type Scope = {
  readonly accounts: readonly string[]
  /** The one that may be in the second cell, and whether it has to be. */
  readonly moved: string
  readonly isMoved: boolean
  readonly quotas: Readonly<Record<string, number>>
  /** Every id that a response showed, with its account. */
  readonly ids: ReadonlyMap<string, string>
}

/** Where some accounts of a run are. */
type Place = Pick<World, 'database' | 'objects'> & { readonly accounts: readonly string[] }

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

/** The databases and stores of the run's accounts: one that has moved is read only where it is served. */
const findPlaces = async (world: World, { accounts, moved }: Pick<Scope, 'accounts' | 'moved'>): Promise<Place[]> => {
  const { second } = world
  const isThere = second !== undefined && (await presenceOf(second.database, moved)) === 'here'
  if (!isThere) return [{ ...world, accounts }]
  return [
    { ...world, accounts: accounts.filter((account) => account !== moved) },
    { ...second, accounts: [moved] },
  ]
}

/** Waits until nothing more is due for the accounts and no message of theirs is left, at most `withinMs`; the checker judges what is left. */
export const settle = async (
  world: World,
  scope: Pick<Scope, 'accounts' | 'moved'>,
  withinMs: number,
): Promise<void> => {
  const isDone = async () => {
    for (const { database, accounts } of await findPlaces(world, scope)) {
      const [row] = await database.query<{ count: string | number }>(openWork, [accounts])
      if (Number(row?.count) > 0) return false
    }
    return !(await readMessages(world)).some((subject) => scope.accounts.includes(parseCaptureAccountId(subject)))
  }
  await eventually(isDone, { withinMs }).catch(() => {})
}

/** The digests of an object's image, and of the files behind it. An object without a row is an image alone. */
const digestsOf = (body: Buffer, { fileSize = null, files = [] }: Partial<CaptureRow> = {}) => {
  const imageBytes = files.length > 0 ? (fileSize ?? 0) : body.length
  let at = imageBytes
  const fileDigests = files.map(({ bytes }) => {
    const file = body.subarray(at, at + bytes)
    at += bytes
    return sha256(file)
  })
  return { sha256: sha256(body.subarray(0, imageBytes)), files: fileDigests }
}

const readObjects = async (
  { objects }: Place,
  rows: ReadonlyMap<string, CaptureRow>,
  isOwn: (captureId: string) => boolean,
): Promise<StoredObject[]> => {
  const found: StoredObject[] = []
  const byKey = new Map([...rows.values()].map((row) => [row.objectKey, row]))
  for await (const key of objects.list(objectsPrefix)) {
    const captureId = key.split('/').at(-2) ?? ''
    const object = isOwn(captureId) ? await objects.get(key) : undefined
    if (!object) continue
    const parts = await Array.fromAsync(object.body as AsyncIterable<Buffer>)
    found.push({ key, captureId, ...digestsOf(Buffer.concat(parts), byKey.get(key)) })
  }
  return found
}

const selectCaptures = `
  select id::text as id, account_id::text as account, status, charge, error_code as "errorCode", attempts,
    object_key as "objectKey", sha256, file_size::float8 as "fileSize", coalesce(expires_at < now(), false) as "isExpired",
    coalesce(files, '[]'::jsonb) as files, options ->> 'upload_to' is not null as "isUploaded"
  from capture where account_id = any ($1::uuid[])`

const readRows = async (world: World, { database, accounts }: Place) => {
  const query = <Row extends object>(statement: string) => database.query<Row>(statement, [accounts])
  const ids = (statement: string) => query<{ id: string }>(statement).then((rows) => rows.map(({ id }) => id))
  const own = 'where account_id = any ($1::uuid[])'
  const { openUrl } = worldRecords(world)
  const withPath = <Row extends { readonly url: string }>({ url, ...row }: Row) => {
    const { pathname, search } = new URL(openUrl(url))
    return { ...row, path: pathname + search }
  }
  const deliveries = await query<Omit<DeliveryRow, 'path'> & { url: string }>(
    `select capture_id::text as "captureId", upload_destination_id is not null as "isUpload", url, state, attempts
       from webhook_delivery ${own}`,
  )
  const webhooks = await query<Omit<WebhookRow, 'path'> & { url: string }>(
    `select account_id::text as account, url from webhook ${own} and active`,
  )
  return {
    captures: await query<CaptureRow>(selectCaptures),
    deliveries: deliveries.map(withPath),
    webhooks: webhooks.map(withPath),
    deleted: await query<{ account: string; staysCharged: boolean }>(
      `select account_id::text as account, stays and is_charged as "staysCharged" from deleted ${own}`,
    ),
    usage: await query<{ account: string; reserved: number; settled: number }>(
      `select account_id::text as account, sum(reserved)::float8 as reserved, sum(settled)::float8 as settled
         from usage ${own} group by 1`,
    ),
    deletions: await ids(`select distinct capture_id::text as id from deletion ${own}`),
    outbox: await ids(`select capture_id::text as id from outbox ${own}`),
  }
}

const readPlace = async (world: World, place: Place, { ids }: Scope) => {
  const rows = await readRows(world, place)
  const removals = await place.database.query<{ key: string }>('select key from object_removal')
  const byId = new Map(rows.captures.map((row) => [row.id, row]))
  const isOwn = (id: string) => byId.has(id) || place.accounts.includes(ids.get(id) ?? '')
  return {
    ...rows,
    removals: removals.map(({ key }) => key),
    objects: await readObjects(place, byId, isOwn),
  }
}

/** Of which cells the account that may move gets responses. */
const findServers = async (
  { database, second }: World,
  { moved: account, isMoved }: Scope,
): Promise<MovableAccount> => {
  const all = [database, ...(second ? [second.database] : [])]
  const presences = await Promise.all(all.map((each) => presenceOf(each, account)))
  const count = (...kinds: readonly string[]) => presences.filter((each) => kinds.includes(each ?? '')).length
  const isStill = isMoved && presences[1] !== 'here'
  return { account, servedBy: count('here', 'moving'), isHeld: count('moving', 'leaving') > 0, isStill }
}

const readAll = async (world: World, scope: Scope): Promise<Snapshot> => {
  const places = await Promise.all((await findPlaces(world, scope)).map((place) => readPlace(world, place, scope)))
  const [first] = places
  const hasMoved = places.length > 1
  const differences = await world.database.query<{ account_id: string }>(meterDifferencesAfterDeletes)
  const captures = places.flatMap((place) => place.captures)
  const known = new Set([...scope.ids.keys(), ...captures.map(({ id }) => id)])
  return {
    captures,
    deliveries: places.flatMap((place) => place.deliveries),
    webhooks: places.flatMap((place) => place.webhooks),
    deletions: places.flatMap((place) => place.deletions),
    outbox: places.flatMap((place) => place.outbox),
    removals: places.flatMap((place) => place.removals),
    objects: places.flatMap((place) => place.objects),
    // What was deleted before and after a move is recorded in two cells, and mixed with what the erasure removes.
    deleted: first?.deleted ?? [],
    usage: first?.usage ?? [],
    quotas: scope.quotas,
    messages: (await readMessages(world)).map(parseCaptureId).filter((id) => known.has(id)),
    meterDifferences: differences
      .filter(({ account_id: account }) => !(hasMoved && account === scope.moved))
      .map((difference) => JSON.stringify(difference)),
    movable: [await findServers(world, scope)],
    oldRows: await readOldRows(world),
    atMs: performance.now(),
  }
}

/** Reads the state of all stores; retries while one of them is still starting, at most 30 s. */
export const takeSnapshot = async (world: World, scope: Scope): Promise<Snapshot> => {
  let snapshot: Snapshot | undefined
  const isRead = async () => (snapshot = await readAll(world, scope)) !== undefined
  await eventually(isRead, { withinMs: settleMs, what: 'all stores can be read' })
  return snapshot!
}
