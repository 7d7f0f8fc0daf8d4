import { setTimeout as delay } from 'node:timers/promises'
import type { SettingValues } from '#shared/config/read-env.ts'
import type { databaseSettings } from '#shared/config/settings/outside.ts'
import { type Caller, type WalPosition, walPosition } from '#shared/db/check-request.ts'
import {
  type Database,
  onlyRow,
  type openConfiguredDatabase,
  type Sql,
  WrongServerError,
} from '#shared/db/connection.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { pause } from '#shared/process/pause.ts'
import { within } from '#shared/process/within.ts'
import type { Events } from '#gateway/telemetry/events.ts'

/** How long a read waits for the replica to reach its position: a healthy one is a few milliseconds behind. */
const behindMs = 50
const pollMs = 5
/** Longest time of a read from the replica, after which the primary serves it. */
const readMs = 1000
/** Interval at which a replica that is not used is tried. */
const retryMs = 2000

/** A position of the primary with this identifier. */
type Required = WalPosition & { readonly systemId: string }

const primaryStatement = `select ${walPosition}, system_identifier::text as "systemId",
  current_setting('synchronous_commit') <> 'off' as "isDurable" from pg_control_system()`

/**
 * Whether the session's server is a replica of that primary on its timeline, and has replayed the position. Its timeline is that of its last
 * restartpoint: one that went another way than a promoted server never gets to the new timeline, though it may have more WAL.
 */
const replicaStatement = `select pg_is_in_recovery() and system_identifier::text = $1
    and upper(lpad(to_hex(timeline_id), 8, '0')) = $2 as "isReplica",
  coalesce(pg_last_wal_replay_lsn() - '0/0' >= $3::float8, false) as "isReplayed"
  from pg_control_system(), pg_control_checkpoint()`

const unavailable = (message: string) => new AppError('SERVICE_UNAVAILABLE', { message })
const behind = unavailable(`more than ${behindMs} ms behind`)
/** After a failover the address may lead to another server, while the one that was promoted keeps its sessions. */
const notReplica = () =>
  new WrongServerError('SERVICE_UNAVAILABLE', {
    message: 'not a replica of the primary, or not on its timeline yet',
  })
const tooSlow = () => unavailable(`no response for ${readMs} ms`)

/** Returns once the session's server has replayed the position. Throws `SERVICE_UNAVAILABLE` if it does not in time, or is no replica. */
const waitForReplay = async (session: Sql, { systemId, timeline, bytes }: Required): Promise<void> => {
  const endMs = performance.now() + behindMs
  for (;;) {
    type Row = { readonly isReplica: boolean; readonly isReplayed: boolean }
    const state = onlyRow(await session.query<Row>(replicaStatement, [systemId, timeline, bytes]))
    if (!state.isReplica) throw notReplica()
    if (state.isReplayed) return
    if (performance.now() >= endMs) throw behind
    await delay(pollMs)
  }
}

type Dependencies = {
  readonly primary: Sql
  readonly replica: Pick<Database, 'transaction'>
  readonly events: Pick<Events, 'replicaRead' | 'replicaUsed' | 'replicaLeft'>
}

/**
 * Reads from a replica what the primary had committed when it checked the caller's request, so that no caller notices a difference, and
 * from the primary what the replica does not return within a second. A replica whose check failed, or that was behind, is not used until it
 * has caught up with the primary.
 */
export class ReplicaReads implements AsyncDisposable {
  readonly #deps: Dependencies
  readonly #stop = new AbortController()
  readonly #trying: Promise<void>
  /** The primary's identifier, in an object for each time that the replica is used; undefined: it is not. */
  #used: { readonly systemId: string } | undefined

  constructor(deps: Dependencies) {
    this.#deps = deps
    this.#trying = this.#keepTrying()
  }

  isUsed(): boolean {
    return this.#used !== undefined
  }

  /** Runs single statements that only read. */
  asOf({ walPosition: position }: Pick<Caller, 'walPosition'>): Sql {
    return {
      query: async <Row extends object>(text: string, parameters?: readonly unknown[], keep?: 'keep') => {
        const { primary, events } = this.#deps
        const used = this.#used
        if (position === undefined || used === undefined) {
          events.replicaRead('unused')
          return await primary.query<Row>(text, parameters, keep)
        }
        let isReplayed = false
        try {
          const rows = await this.#read({ ...position, ...used }, (session) => {
            isReplayed = true
            return session.query<Row>(text, parameters)
          })
          events.replicaRead('replica')
          return rows
        } catch (error) {
          events.replicaRead(error === behind ? 'behind' : 'failed')
          // A statement that fails or is slow says nothing about those of others.
          if (!isReplayed && this.#used === used) this.#leave(error)
          return await primary.query<Row>(text, parameters, keep)
        }
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#trying
  }

  /** Each read checks its own session: one address may have several replicas. `work` is another statement: one sees what was replayed before it began. */
  #read<T>(position: Required, work: (session: Sql) => Promise<T>): Promise<T> {
    const read = this.#deps.replica.transaction(async (session) => {
      await waitForReplay(session, position)
      return await work(session)
    })
    return within(read, readMs, tooSlow)
  }

  #leave(error: unknown): void {
    this.#used = undefined
    this.#deps.events.replicaLeft(error)
  }

  async #try(): Promise<void> {
    try {
      const [row] = await this.#deps.primary.query<Required & { isDurable: boolean }>(primaryStatement)
      if (!row?.isDurable) throw unavailable('synchronous_commit of the primary is off')
      await this.#read(row, async () => {})
      this.#used = { systemId: row.systemId }
      this.#deps.events.replicaUsed()
    } catch (error) {
      this.#leave(error)
    }
  }

  async #keepTrying(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      if (!this.isUsed()) await this.#try()
      await pause(retryMs, signal)
    }
  }
}

type Settings = SettingValues<typeof databaseSettings> & { readonly databaseReplicaUrl: string | undefined }

/** Opens the replica that the settings name; without one all is read from the primary. */
export const openReplica = (
  stack: AsyncDisposableStack,
  { databaseReplicaUrl: databaseUrl, ...settings }: Settings,
  primary: Sql,
  { events, open }: { readonly events: Events; readonly open: typeof openConfiguredDatabase },
): Pick<ReplicaReads, 'isUsed' | 'asOf'> => {
  if (databaseUrl === undefined) return { isUsed: () => false, asOf: () => primary }
  // A direct address says that statements go through poolers.
  const databaseDirectUrl = settings.databaseDirectUrl && databaseUrl
  const replica = stack.use(open({ ...settings, databaseUrl, databaseDirectUrl }, events.identityReports('postgresql')))
  return stack.use(new ReplicaReads({ primary, replica, events }))
}
