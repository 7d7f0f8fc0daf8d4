import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { copyTemplate, findPrograms, kill, launch, migrated, type Programs } from '#test/helpers/postgres.ts'
import { copyRunning, waitForReplica } from '#test/helpers/postgres-replica.ts'
import { processTree, signalAll } from '#test/helpers/process-tree.ts'

const hosts = ['127.0.0.2', '127.0.0.3'] as const
/** Segments of shared memory are files of the data folder, which is removed after a SIGKILL too. */
const settings = ['fsync=off', 'wal_keep_size=256MB', 'dynamic_shared_memory_type=mmap']

/** A server that can be killed, frozen and started again on its disk. */
class Server {
  readonly host: string
  readonly folder: string
  readonly #launch: () => Promise<ChildProcess>
  #process: ChildProcess | undefined

  constructor(programs: Programs, options: { host: string; port: number; folder: string; more?: readonly string[] }) {
    const { host, port, folder, more = [] } = options
    this.host = host
    this.folder = folder
    this.#launch = () => launch({ ...programs, host, folder, port, settings: [...settings, ...more] })
  }

  isRunning(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** Does nothing if it runs. */
  async start(): Promise<void> {
    if (!this.isRunning()) this.#process = await this.#launch()
  }

  /** One that is frozen is thawed for it: a stopped process does not handle SIGQUIT. */
  async crash(): Promise<void> {
    this.signal('SIGCONT')
    if (this.#process) await kill(this.#process)
  }

  /** Sends a signal to all its processes. */
  signal(signal: NodeJS.Signals): void {
    if (this.isRunning())
      signalAll(
        processTree(this.#process?.pid ?? 0).map(({ pid }) => pid),
        signal,
      )
  }

  /** Kills all processes with SIGKILL. */
  async lose(): Promise<void> {
    if (!this.#process || !this.isRunning()) return
    const ended = once(this.#process, 'exit')
    this.signal('SIGKILL')
    await ended
  }

  /** Kills it and removes its disk. */
  async remove(): Promise<void> {
    await this.lose()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/**
 * A PostgreSQL server with a synchronous replica, on the same port of two addresses. A commit waits until the replica has its WAL, as it
 * must if a failover is to lose nothing. Changes happen one after another, but for the end of a freeze, and do nothing to a replica that
 * does not exist.
 */
export type PostgresPair = AsyncDisposable & {
  /** Address of the current primary. */
  readonly host: () => string
  /** Address of the replica; after a failover, of the server that was promoted, until the next replica. */
  readonly replicaHost: () => string
  /** Kills all processes of the primary with SIGKILL and promotes the replica, which is started or thawed for it. */
  readonly promote: () => Promise<void>
  /** Gives the primary a replica, and lets commits wait for it from then on. */
  readonly addReplica: () => Promise<void>
  /** Lets the replica receive WAL, but not apply it; ends with a promotion. */
  readonly pauseReplay: () => Promise<void>
  readonly resumeReplay: () => Promise<void>
  readonly killReplica: () => Promise<void>
  /** Does nothing to a replica that runs. */
  readonly startReplica: () => Promise<void>
  readonly freezeReplica: () => Promise<void>
  readonly thawReplica: () => Promise<void>
}

const open = (host: string, port: number): Database =>
  openDatabase({ url: `postgres://postgres@${host}:${port}/postgres`, poolMax: 1 })

/** Runs one work after another. */
const createTurns = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work)
    last = turn
    return turn
  }
}

class Pair {
  readonly #programs: Programs
  readonly #port: number
  primary: Server
  replica: Server | undefined

  constructor(programs: Programs, port: number, folder: string) {
    this.#programs = programs
    this.#port = port
    this.primary = new Server(programs, { host: hosts[0], port, folder })
  }

  async addReplica(): Promise<void> {
    const port = this.#port
    await using database = open(this.primary.host, port)
    const conninfo = `primary_conninfo=host=${this.primary.host} port=${port} user=postgres`
    const host = hosts.find((each) => each !== this.primary.host)!
    const folder = await copyRunning(database, this.#programs)
    this.replica = new Server(this.#programs, { host, port, folder, more: [conninfo] })
    await this.replica.start()
    await waitForReplica(database)
    await database.query(`alter system set synchronous_standby_names = '*'`)
    await database.query('select pg_reload_conf()')
  }

  async promote(): Promise<void> {
    const promoted = this.replica
    if (!promoted) throw new Error('PostgreSQL has no replica')
    const lost = this.primary
    await lost.lose()
    promoted.signal('SIGCONT')
    await promoted.start()
    await using database = open(promoted.host, this.#port)
    await database.query('select pg_promote()')
    this.primary = promoted
    this.replica = undefined
    await lost.remove()
  }

  async #query(statement: string): Promise<void> {
    if (!this.replica?.isRunning()) return
    await using database = open(this.replica.host, this.#port)
    await database.query(statement)
  }

  /** A replica that is frozen by another fault does not respond. */
  pauseReplay(): Promise<void> {
    return this.#query('select pg_wal_replay_pause()').catch(() => {})
  }

  resumeReplay(): Promise<void> {
    const resume = 'do $$ begin if pg_is_in_recovery() then perform pg_wal_replay_resume(); end if; end $$'
    return eventually(() => this.#query(resume).then(() => true), { what: 'the replica applies WAL again' })
  }
}

/** Starts a pair with the database `shutterfleet`. */
export const startPostgresPair = async (port: number): Promise<PostgresPair> => {
  const programs = await findPrograms()
  const inTurn = createTurns()
  const pair = new Pair(programs, port, await copyTemplate(programs))
  await pair.primary.start()
  await using first = open(pair.primary.host, port)
  await first.query(`create database shutterfleet template ${migrated}`)
  await pair.addReplica()
  return {
    host: () => pair.primary.host,
    replicaHost: () => (pair.replica ?? pair.primary).host,
    promote: () => inTurn(() => pair.promote()),
    addReplica: () => inTurn(() => pair.addReplica()),
    pauseReplay: () => inTurn(() => pair.pauseReplay()),
    resumeReplay: () => inTurn(() => pair.resumeReplay()),
    killReplica: () => inTurn(async () => pair.replica?.crash()),
    startReplica: () => inTurn(async () => pair.replica?.start()),
    freezeReplica: () => inTurn(async () => pair.replica?.signal('SIGSTOP')),
    // Others wait for it.
    thawReplica: async () => pair.replica?.signal('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      await pair.replica?.remove()
      await pair.primary.remove()
    },
  }
}
