import type { ChildProcess } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import { copyTemplate, findPrograms, kill, launch, migrated } from '#test/helpers/postgres.ts'
import { copyRunning, waitForReplica } from '#test/helpers/postgres-replica.ts'

const hosts = ['127.0.0.2', '127.0.0.3'] as const
/** A commit waits until the replica has its WAL, as it must if a failover is to lose nothing; the replica applies it later. */
const settings = ['fsync=off', 'wal_keep_size=256MB']
const applyDelay = '2s'

type Server = { readonly host: string; readonly folder: string; readonly process: ChildProcess }

/** A PostgreSQL server with a synchronous replica that lags in applying, on the same port of two addresses. */
export type PostgresPair = AsyncDisposable & {
  /** Address of the current primary. */
  readonly host: () => string
  /** Kills the primary and promotes the replica. */
  readonly promote: () => Promise<void>
  /** Gives the primary a replica, and lets commits wait for it from then on. */
  readonly addReplica: () => Promise<void>
}

const open = (host: string, port: number): Database =>
  openDatabase({ url: `postgres://postgres@${host}:${port}/postgres`, poolMax: 1 })

/** Starts a pair with the database `shutterfleet`. */
export const startPostgresPair = async (port: number): Promise<PostgresPair> => {
  const programs = await findPrograms()
  const start = async (host: string, folder: string, more: readonly string[] = []): Promise<Server> => {
    const started = await launch({ ...programs, host, folder, port, settings: [...settings, ...more] })
    return { host, folder, process: started }
  }
  const end = async (server: Server | undefined) => {
    if (!server) return
    await kill(server.process)
    await rm(server.folder, { recursive: true, force: true })
  }
  let primary = await start(hosts[0], await copyTemplate(programs))
  let replica: Server | undefined
  const addReplica = async () => {
    await using database = open(primary.host, port)
    const conninfo = `host=${primary.host} port=${port} user=postgres`
    const host = hosts.find((each) => each !== primary.host)!
    const lag = [`primary_conninfo=${conninfo}`, `recovery_min_apply_delay=${applyDelay}`]
    replica = await start(host, await copyRunning(database, programs), lag)
    await waitForReplica(database)
    await database.query(`alter system set synchronous_standby_names = '*'`)
    await database.query('select pg_reload_conf()')
  }
  await using first = open(primary.host, port)
  await first.query(`create database shutterfleet template ${migrated}`)
  await addReplica()
  return {
    host: () => primary.host,
    promote: async () => {
      if (!replica) throw new Error('PostgreSQL has no replica')
      const lost = primary
      await kill(lost.process)
      await using database = open(replica.host, port)
      await database.query('select pg_promote()')
      primary = replica
      replica = undefined
      await end(lost)
    },
    addReplica,
    [Symbol.asyncDispose]: async () => {
      await end(replica)
      await end(primary)
    },
  }
}
