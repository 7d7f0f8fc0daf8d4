import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Migrator } from '@mikro-orm/migrations'
import { MikroORM, type SqlEntityManager } from '@mikro-orm/postgresql'
import type { SettingValues } from '#shared/config/read-env.ts'
import type { databaseSettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { IdentityReports } from '#shared/telemetry/identity-events.ts'
import { classifyDatabaseError, isConflict, isRepeatable, isUnanswered, isUnprepared } from './classify-error.ts'
import { entities } from './entities/all.ts'
import { keepListening, type Listening, type Pool } from './listen.ts'
import { identifyBy } from './identify.ts'
import { migrations } from './migrations.ts'
import { type PasswordSource, passwordSource } from './password.ts'

const defaultStatementMs = 10_000
const lockMs = 5000
const connectMs = 5000
/** Who waits for rows of captures that end gets a conflict for each, since they move to another partition (ADR 97). */
const triesMax = 6
const retryMs = 20

/**
 * Runs one statement. Parameters are `$1`, `$2`, … and are bound by the server, never written into the text. `keep`:
 * prepares it once per connection, outside of transactions; for the few frequent statements whose plan does not depend on
 * the parameters.
 */
export type Sql = {
  readonly query: <Row extends object>(text: string, parameters?: readonly unknown[], keep?: 'keep') => Promise<Row[]>
}

/**
 * A pool of connections to PostgreSQL 15 or newer, opened on demand. Statements time out after their bound, waits for a lock
 * after five seconds; the server never starts a statement that has timed out. Throws `SERVICE_UNAVAILABLE` if the server is unavailable or too slow, else `SERVER_ERROR`.
 */
export type Database = Sql &
  AsyncDisposable & {
    /** Runs `work` in one transaction. Retries it, as it does a `query`, after a deadlock, a conflict or a replaced function: six runs in all, so it must have no other effect. */
    readonly transaction: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>
    /** As `transaction`, for use cases that work with entities. */
    readonly entities: <T>(work: (entities: SqlEntityManager) => Promise<T>) => Promise<T>
    /** Subscribes to a channel in a session of its own until disposed; `notified` is called for each notification, and when some may have been missed. */
    readonly subscribe: (channel: string, notified: () => void) => Listening
    /** Whether PostgreSQL responds within `timeoutMs`. Never throws. */
    readonly ping: (timeoutMs: number) => Promise<boolean>
    /** Writes and commits, and leaves no row; throws if PostgreSQL cannot. Needs free space: a small row may fit where there is none. */
    readonly probe: () => Promise<void>
    /** The mapper that owns the pool; only `shared/db` uses it. */
    readonly orm: MikroORM
  }

/**
 * `poolMax`: most connections, at least two. `statementMs`: time-out of a statement, ten seconds by default.
 * `directUrl`: the server itself, if `url` is a transaction pooler. `password` is called for each connection, if the address
 * contains none.
 */
type DatabaseOptions = {
  readonly url: string
  readonly password?: PasswordSource | undefined
  readonly poolMax: number
  readonly statementMs?: number
  readonly directUrl?: string | undefined
}

const toBounds = ({ statementMs = defaultStatementMs }: DatabaseOptions) => {
  // The client gives up on a silent server shortly after the server should have ended the statement.
  const answerMs = statementMs + 2000
  // The server ends an idle session before its client gives up on a statement. So a server that was frozen or cut off
  // never starts a statement whose client has given up: the idle time-out ends the session first.
  const sessionIdleMs = answerMs - 1000
  // The pool closes idle connections before the server would end them.
  return { statementMs, answerMs, sessionIdleMs, reuseMs: sessionIdleMs - 2000 }
}

/**
 * Adds options to an address; the driver has no field for them. Compiling a statement (jit) has been seen to take a
 * second for one that runs in a millisecond.
 */
const boundSessions = (address: string, sessionIdleMs: number): string => {
  const url = new URL(address)
  const options = url.searchParams.get('options') ?? ''
  url.searchParams.set('options', `${options} -c idle_session_timeout=${sessionIdleMs} -c jit=off`.trim())
  return url.href
}

/** Statement that sets the bounds for one transaction: a pooler shares its sessions, and rejects them as startup parameters. */
const boundTransaction = (options: DatabaseOptions): string => {
  const { statementMs, sessionIdleMs } = toBounds(options)
  const values = {
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: sessionIdleMs,
    jit: 'off',
  }
  return `select ${Object.entries(values)
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(', ')}`
}

/** Tables that no entity describes; the comparison of entities and schema skips them. */
const otherTables =
  /^(?!(?:public\.)?(?:account|account_meter|api_key|audit_entry|link_secret|maintenance|plan|pool_pause)$)/

const createOrm = (options: DatabaseOptions): MikroORM => {
  const bounds = toBounds(options)
  return new MikroORM({
    clientUrl: options.url,
    entities: [...entities],
    extensions: [Migrator],
    migrations: { migrationsList: migrations, snapshot: false, silent: true, allOrNothing: false },
    schemaGenerator: { ignoreRoutines: true, ignoreTriggers: true, skipTables: [otherTables] },
    // A migration holds one connection for its lock and works on another.
    pool: { min: 0, max: Math.max(2, options.poolMax), idleTimeoutMillis: bounds.reuseMs },
    logger: () => {},
    driverOptions: {
      // The client reads more of an address than the mapper does, `sslmode` for example.
      connectionString:
        options.directUrl === undefined ? boundSessions(options.url, bounds.sessionIdleMs) : options.url,
      application_name: 'shutterfleet',
      ...(options.directUrl === undefined && {
        statement_timeout: bounds.statementMs,
        lock_timeout: lockMs,
        idle_in_transaction_session_timeout: bounds.sessionIdleMs,
      }),
      query_timeout: bounds.answerMs,
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      onPoolCreated: identifyBy(new URL(options.url).password === '' ? options.password : undefined),
    },
  })
}

const sqlOn = (client: Pick<Pool, 'query'>): Sql => ({
  query: async <Row extends object>(text: string, parameters: readonly unknown[] = []) =>
    (await client.query(text, [...parameters])).rows as Row[],
})

/**
 * Runs prepared statements. If PostgreSQL rejects one before execution, because the session no longer has it (a pooler
 * is in between) or its result types have changed, it is run unprepared.
 */
const createPreparedQuery = () => {
  const names = new Map<string, string>()
  const statementName = (text: string) => {
    const name = names.get(text) ?? createHash('sha256').update(text).digest('hex').slice(0, 32)
    names.set(text, name)
    return name
  }
  return async <Row extends object>(pool: Pool, text: string, parameters: readonly unknown[] = []): Promise<Row[]> => {
    try {
      return (await pool.query({ name: statementName(text), text }, [...parameters])).rows as Row[]
    } catch (error) {
      if (!isUnprepared(error)) throw error
      return await sqlOn(pool).query<Row>(text, parameters)
    }
  }
}

/** After `commit` was sent only a conflict is retried: a classified error is not. */
const throwCommitError = (error: unknown): never => {
  throw isConflict(error) ? error : classifyDatabaseError(error)
}

const runOnce = async <T>(pool: Pool, begin: string, work: (sql: Sql) => Promise<T>): Promise<T> => {
  const client = await pool.connect()
  let broken = false
  try {
    await client.query(begin)
    const result = await work(sqlOn(client))
    await client.query('commit').catch(throwCommitError)
    return result
  } catch (error) {
    // A rollback would wait behind a stuck statement; closing the connection rolls back too.
    broken = isUnanswered(error) || error instanceof WrongServerError
    if (!broken) {
      await client.query('rollback').catch(() => {
        broken = true
      })
    }
    throw error
  } finally {
    client.release(broken)
  }
}

/** A temporary file takes space from the disk; a message in the WAL, which nobody reads, makes the commit wait for the disk. */
const writeAndRemove = async (sql: Sql): Promise<void> => {
  await sql.query(`set local work_mem = '64kB'`)
  await sql.query('select count(*) from generate_series(1, 5000)')
  const [row] = await sql.query<{ readOnly: string }>(
    `select current_setting('transaction_read_only') as "readOnly", pg_logical_emit_message(true, 'shutterfleet', '')`,
  )
  if (row?.readOnly !== 'off') throw new AppError('SERVICE_UNAVAILABLE', { message: 'PostgreSQL is read-only' })
}

const runEntities = async <T>(
  fork: SqlEntityManager,
  bound: string | undefined,
  work: (entities: SqlEntityManager) => Promise<T>,
): Promise<T> => {
  let commits = false
  const run = fork.transactional(async (em) => {
    if (bound) await em.execute(bound)
    const result = await work(em)
    await em.flush()
    commits = true
    return result
  })
  return run.catch((error: unknown) => {
    if (commits) return throwCommitError(error)
    throw error
  })
}

const withRetries = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isRepeatable(error) || tries === triesMax) throw classifyDatabaseError(error)
      await delay(tries * retryMs * (0.5 + Math.random()))
    }
  }
}

/** Tracks running work; `end` resolves once all of it has settled. */
const trackWork = () => {
  const running = new Set<Promise<unknown>>()
  return {
    track: <T>(work: Promise<T>): Promise<T> => {
      running.add(work)
      const ended = () => running.delete(work)
      work.then(ended, ended)
      return work
    },
    end: () => Promise.allSettled(running),
  }
}

/** Thrown by the work of a transaction whose session is with another server than it needs: the session is closed, since a new one may be with the right one. */
export class WrongServerError extends AppError {}

/** Opens a pool of connections; the first statement connects. */
export const openDatabase = (options: DatabaseOptions): Database => {
  const orm = createOrm(options)
  const { track, end } = trackWork()
  const closing = new AbortController()
  const nativePool = (): Promise<Pool> => orm.em.getConnection().getNativeClient()
  const withPool = <T>(work: (pool: Pool) => Promise<T>): Promise<T> =>
    track(withRetries(async () => work(await nativePool())))
  const runPrepared = createPreparedQuery()
  // Behind a pooler each statement is a transaction with its own bounds, and none is prepared: sessions are shared.
  const { directUrl } = options
  let direct: Database | undefined
  const bound = directUrl === undefined ? undefined : boundTransaction(options)
  const begin = bound ? `begin; ${bound}` : 'begin'
  const query: Sql['query'] = <Row extends object>(text: string, parameters?: readonly unknown[], keep?: 'keep') =>
    withPool((pool) => {
      if (bound) return runOnce(pool, begin, (sql) => sql.query<Row>(text, parameters))
      return keep ? runPrepared<Row>(pool, text, parameters) : sqlOn(pool).query<Row>(text, parameters)
    })
  return {
    orm,
    query,
    transaction: (work) => withPool((pool) => runOnce(pool, begin, work)),
    entities: (work) => track(withRetries(() => runEntities(orm.em.fork(), bound, work))),
    subscribe: (channel, notified) => {
      if (directUrl !== undefined)
        return (direct ??= openDatabase({ ...options, url: directUrl, directUrl: undefined, poolMax: 2 })).subscribe(
          channel,
          notified,
        )
      const disposed = new AbortController()
      const stop = AbortSignal.any([disposed.signal, closing.signal])
      let isListening = false
      const note = (now: boolean) => {
        isListening = now
        notified()
      }
      void track(keepListening(nativePool, channel, { stop, notified: note }))
      return { isListening: () => isListening, [Symbol.dispose]: () => disposed.abort() }
    },
    ping: (timeoutMs) => {
      const answered = query('select 1').then(
        () => true,
        () => false,
      )
      return Promise.race([answered, delay(timeoutMs, false, { ref: false })])
    },
    probe: () => withPool((pool) => runOnce(pool, begin, writeAndRemove)),
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      // Closing a pool that is opening its first connection never resolves.
      await end()
      await orm.close(true)
      await direct?.[Symbol.asyncDispose]()
    },
  }
}

/** Opens the database that the settings name. */
export const openConfiguredDatabase = (
  {
    databaseUrl: url,
    databaseDirectUrl: directUrl,
    databasePoolMax: poolMax,
    ...identity
  }: SettingValues<typeof databaseSettings>,
  reports: IdentityReports,
): Database => openDatabase({ url, directUrl, poolMax, password: passwordSource(identity, { reports }) })

/** The row of a statement that always returns one. Throws `SERVER_ERROR` if there is none. */
export const onlyRow = <Row>(rows: readonly Row[]): Row => {
  const [row] = rows
  if (row === undefined) throw new AppError('SERVER_ERROR', { message: 'PostgreSQL: a statement returned no row' })
  return row
}
