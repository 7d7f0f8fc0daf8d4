import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '#shared/errors/app-error.ts'
import { type Database, openConfiguredDatabase, type Sql } from '#shared/db/connection.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { openStore } from '#shared/storage/open-store.ts'

/**
 * What happens at a call to a store. `refused`: it throws without effect. `unanswered`: it has its effect and throws.
 * `overtaken`: the process freezes before it, and meanwhile `overtake` runs.
 */
export type CallFault = 'refused' | 'unanswered' | 'overtaken'

/** Every fault. */
export const callFaults: readonly CallFault[] = ['refused', 'unanswered', 'overtaken']

const unavailable = (name: string) => new AppError('SERVICE_UNAVAILABLE', { message: `planted at: ${name}` })

type Planted = { readonly at: number; readonly fault: CallFault; readonly overtake: () => Promise<void> }
/** `thawed`: while the process is frozen, all its calls wait. */
type Run = { readonly calls: string[]; readonly planted: Planted | undefined; thawed: Promise<void> }

/** Calls of loops beside a run are not numbered. */
const runs = new AsyncLocalStorage<Run>()
const newRun = (planted?: Planted): Run => ({ calls: [], planted, thawed: Promise.resolve() })

/** How a call ends in which a fault is planted: before its effect, or after it. */
type Ends<T> = { readonly refused: () => T; readonly unanswered: (result: T) => T }

const throwing = <T>(name: string): Ends<T> => {
  const fail = () => {
    throw unavailable(name)
  }
  return { refused: fail, unanswered: fail }
}

/** `isOpen`: a transaction has begun, whose locks another process would wait for; nobody overtakes it. */
const call = async <T>(
  name: string,
  work: () => Promise<T>,
  { isOpen = false, ends = throwing(name) }: { readonly isOpen?: boolean; readonly ends?: Ends<T> } = {},
): Promise<T> => {
  const run = runs.getStore() ?? newRun()
  const { calls, planted } = run
  await run.thawed
  calls.push(name)
  if (planted?.at !== calls.length) return work()
  const { fault, overtake } = planted
  if (fault === 'refused') return ends.refused()
  if (fault === 'overtaken' && !isOpen) {
    run.thawed = runs.exit(overtake)
    await run.thawed
  }
  const result = await work()
  return fault === 'overtaken' ? result : ends.unanswered(result)
}

/** A call without an answer. */
const callOut = (name: string, work: () => void) => {
  const { calls, planted } = runs.getStore() ?? newRun()
  calls.push(name)
  if (planted?.at !== calls.length || planted.fault !== 'refused') work()
}

/**
 * Numbers a call to something that is not a store. A planted fault does not throw: the call resolves to `refused`, or to
 * `unanswered`; without the latter its answer is never lost.
 */
export const callOutside = <T>(
  name: string,
  work: () => Promise<T>,
  { refused, unanswered }: { readonly refused: T; readonly unanswered?: T },
): Promise<T> => call(name, work, { ends: { refused: () => refused, unanswered: (result) => unanswered ?? result } })

const brief = (text: string) => text.trim().replaceAll(/\s+/g, ' ').slice(0, 60)

const queryOf = (sql: Sql, isOpen: boolean): Sql['query'] =>
  async function query<Row extends object>(text: string, parameters?: readonly unknown[], keep?: 'keep') {
    return call(brief(text), () => sql.query<Row>(text, parameters, keep), { isOpen })
  }

const faultyDatabase = (database: Database): Database => ({
  ...database,
  query: queryOf(database, false),
  transaction: (work) => call('transaction', () => database.transaction((sql) => work({ query: queryOf(sql, true) }))),
  entities: (work) => call('entities', () => database.entities(work)),
})

const faultyQueue = (queue: Queue): Queue => {
  const { connection } = queue
  const request = (...all: Parameters<typeof connection.request>) =>
    call(`request ${all[0]}`, () => connection.request(...all))
  return {
    ...queue,
    // The client of JetStream makes its requests by the connection.
    connection: new Proxy(connection, {
      get: (target, name) => (name === 'request' ? request : Reflect.get(target, name)),
    }),
    publish: (...all) => callOut(`publish ${all[0]}`, () => queue.publish(...all)),
    request: (...all) => call(`request ${all[0]}`, () => queue.request(...all)),
  }
}

const faultyObjects = (objects: ObjectStore): ObjectStore => ({
  ...objects,
  put: (...all) => call(`put ${all[0]}`, () => objects.put(...all)),
  delete: (keys) => call('delete', () => objects.delete(keys)),
  list: async function* list(...all) {
    yield* await call('list', () => Array.fromAsync(objects.list(...all)))
  },
})

/** How a process reaches its stores. */
export const reachable = { openStore, openConfiguredDatabase, connectQueue }

/** How a process reaches its stores whose calls `runWithFault` numbers. */
export const faultyReachable: typeof reachable = {
  openConfiguredDatabase: (...all) => faultyDatabase(reachable.openConfiguredDatabase(...all)),
  connectQueue: async (options) => faultyQueue(await reachable.connectQueue(options)),
  openStore: async (...all) => {
    const { objects, files } = await reachable.openStore(...all)
    return { objects: faultyObjects(objects), files }
  },
}

/** Numbers the calls of `work` from 1, and plants a fault at one of them, if given. Resolves to the calls, also if `work` then fails. */
export const runWithFault = async (
  planted: Planted | undefined,
  work: () => Promise<unknown>,
): Promise<readonly string[]> => {
  const run = newRun(planted)
  await runs.run(run, work).catch((error: unknown) => {
    if (!planted) throw error
  })
  return [...run.calls]
}
