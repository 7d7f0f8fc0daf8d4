import { isDeepStrictEqual } from 'node:util'
import { jetstreamManager } from '@nats-io/jetstream'
import type { Test } from 'tap'
import type { Env } from '#shared/config/read-env.ts'
import type { Database } from '#shared/db/connection.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { declareStreams } from '#shared/queue/streams.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import { createFilesStore, type FilesStore } from '#shared/storage/files-store.ts'
import { type CallFault, callFaults, faultyReachable, reachable, runWithFault } from './call-faults.ts'
import { databaseState, snapshotRows } from './database-state.ts'
import { meterDifferences } from './meter-differences.ts'
import type { TestNats } from './nats.ts'
import type { TestPostgres } from './postgres.ts'
import { inShard } from './in-shard.ts'

/** The stores of a use case. */
export type Stores = { readonly database: Database; readonly queue: Queue; readonly objects: FilesStore }

/** What is due before a use case acts, and how a process acts; it may act again. */
export type UseCase<Process, World> = {
  readonly arrange: (world: World) => Promise<unknown>
  readonly act: (process: Process, world: World) => Promise<unknown>
}

/** How a service is opened with its settings, what use cases begin with, and what others do before each later run. */
type Service<Process, World> = {
  readonly open: (env: Env, by: typeof reachable) => Promise<Process & AsyncDisposable>
  readonly prepare: (stores: Stores) => Promise<World>
  readonly meanwhile?: (world: World) => Promise<unknown>
  /** What of the database has to be as without a fault; everything by default. */
  readonly rows?: (database: Database) => Promise<Readonly<Record<string, unknown>>>
}

/** Removes all messages. */
export const purgeStreams = async (queue: Queue) => {
  const manager = await jetstreamManager(queue.connection)
  for (const { name } of [capturesStream, resultsStream]) await manager.streams.purge(name)
}

/** Lets claims and waits end. */
const lapse = async (database: Database) => {
  for (const statement of [
    'update outbox set relay_at = now() where relay_at is not null',
    'update deletion set due_at = now()',
    'update object_removal set not_before = now()',
    'update orphan_sweep set claimed_until = null',
    `update webhook_delivery set leased_until = null, next_attempt_at = now() where state = 'pending'`,
  ])
    await database.query(statement)
}

/** The rows, the subjects of each stream, the number of objects, and how many meters are wrong. */
const readState = async (
  { database, queue, objects }: Stores,
  rows: (database: Database) => Promise<Readonly<Record<string, unknown>>>,
): Promise<Readonly<Record<string, unknown>>> => {
  const manager = await jetstreamManager(queue.connection)
  const messages: Record<string, number> = {}
  for await (const { config } of manager.streams.list()) {
    const { state } = await manager.streams.info(config.name, { subjects_filter: '>' })
    // Others are probes.
    messages[config.name] = Object.keys(state.subjects ?? {}).filter((each) => !each.startsWith('probe.')).length
  }
  const { length: stored } = await Array.fromAsync(objects.list(''))
  const { length: wrong } = await database.query(meterDifferences)
  return { ...(await rows(database)), messages, stored, wrong }
}

const signingKey = Buffer.alloc(32, 1).toString('base64')

const openStores = async (test: Test, servers: { readonly server: TestPostgres; readonly nats: TestNats }) => {
  const database = await servers.server.createDatabase(4)
  const queue = await connectQueue({
    url: servers.nats.url,
    name: 'test',
    inboxPrefix: '_INBOX_test',
    notice: () => {},
  })
  test.teardown(() => queue[Symbol.asyncDispose]())
  await declareStreams(queue)
  const folder = test.testdir({})
  const objects = createFilesStore({ folder, filesUrl: 'http://files', signingKey, now: () => new Date() })
  const env = {
    SHUTTERFLEET_DATABASE_URL: database.url,
    SHUTTERFLEET_NATS_URL: servers.nats.url,
    SHUTTERFLEET_STORAGE_DRIVER: 'files',
    SHUTTERFLEET_STORAGE_FOLDER: folder,
    SHUTTERFLEET_STORAGE_FILES_URL: 'http://files',
    SHUTTERFLEET_STORAGE_SIGNING_KEY: signingKey,
    SHUTTERFLEET_LOG_LEVEL: 'error',
  }
  return { database, queue, objects, env }
}

/** A use case with more calls gets one kind of fault per call, in rotation: its calls are loops over the same ones. */
const wholeCalls = 5

/**
 * Opens two processes of a service on new stores. The returned function runs a use case by the first, once for every fault at
 * each of its calls to a store, and then twice by the second, after claims have lapsed. Resolves to the faults after which
 * something differs from an undisturbed run, and how. It tries a shard of the faults, unless `isWhole` is set.
 */
export const openPair = async <Process, World>(
  test: Test,
  servers: Parameters<typeof openStores>[1],
  { open, prepare, meanwhile = async () => {}, rows = databaseState }: Service<Process, World>,
) => {
  const { env, ...stores } = await openStores(test, servers)
  const { database, queue, objects } = stores
  const [disturbed, healthy] = [await open(env, faultyReachable), await open(env, reachable)]
  for (const each of [disturbed, healthy]) test.teardown(() => each[Symbol.asyncDispose]())
  const world = await prepare(stores)
  const restore = await snapshotRows(database)

  const run = async ({ arrange, act }: UseCase<Process, World>, planted?: { at: number; fault: CallFault }) => {
    await restore()
    await declareStreams(queue)
    await purgeStreams(queue)
    await objects.delete(await Array.fromAsync(objects.list('')))
    await arrange(world)
    const before = planted ? undefined : await readState(stores, rows)
    const pass = async () => {
      await lapse(database)
      await meanwhile(world)
    }
    const overtake = async () => {
      await pass()
      await act(healthy, world)
    }
    const calls = await runWithFault(planted && { ...planted, overtake }, () => act(disturbed, world))
    for (let again = 0; again < 2; again += 1) await overtake()
    await pass()
    return { before, after: await readState(stores, rows), calls }
  }

  return async (useCase: UseCase<Process, World>, { isWhole = false } = {}) => {
    const { before, after, calls } = await run(useCase)
    test.ok(calls.length > 0, 'the use case calls a store')
    test.notSame(after, before, 'the use case changes the stores')
    const differing: { readonly fault: string; readonly found: object }[] = []
    const faults = [...calls.entries()].flatMap(([at, call]) =>
      (calls.length > wholeCalls ? callFaults.slice(at % 3, (at % 3) + 1) : callFaults).map((fault) => ({
        at,
        call,
        fault,
      })),
    )
    for (const { at, call, fault } of isWhole ? faults : inShard(faults)) {
      const { after: found } = await run(useCase, { at: at + 1, fault })
      const differs = [...new Set([...Object.keys(after), ...Object.keys(found)])].filter(
        (name) => !isDeepStrictEqual(after[name], found[name]),
      )
      if (differs.length === 0) continue
      const pairs = differs.map((name) => [name, { found: found[name], expected: after[name] }])
      differing.push({ fault: `${fault} at ${at + 1}: ${call}`, found: Object.fromEntries(pairs) })
    }
    return differing
  }
}
