import { countBacklog } from '#shared/db/count-backlog.ts'
import type { Sql } from '#shared/db/connection.ts'
import { listPauses } from '#shared/db/pool-pauses.ts'
import { readRecentCaptures } from './recent-captures.ts'
import { readPools } from './read-pools.ts'

/** Window of rates and stages. */
export const windowSeconds = 60
const answerMs = 3000

/** The figures read from the database. */
export type CaptureFigures = Awaited<ReturnType<typeof readCaptures>>

/** One queue: its backlog, and the captures accepted and ended within the window. */
export type QueueFigures = CaptureFigures['queues'][number]

/** A failure with the host of its URL only. */
export type ShownFailure = CaptureFigures['failures'][number]

/** A part that could not be read holds the reason as text. */
export type Snapshot = Awaited<ReturnType<typeof takeSnapshot>>

/** `source`: host or URL for the title. `controllerUrl`: metrics of the leading controller; undefined if unknown. */
export type Sources = {
  readonly source: string
  readonly database: Sql | undefined
  readonly controllerUrl: string | undefined
  readonly stop: AbortSignal
}

const parseHost = (url: string | null): string | undefined =>
  url !== null && URL.canParse(url) ? new URL(url).host : undefined

const readCaptures = async (database: Sql, nowMs: number) => {
  const [backlog, pauses, recent] = await Promise.all([
    countBacklog(database),
    listPauses(database),
    readRecentCaptures(database, { windowSeconds, nowMs }),
  ])
  const queues = backlog.map(({ pool, pending, processing, oldestMs, lanes }) => {
    const { accepted = 0, completed = 0, failed = 0 } = recent.counts.find(({ queue }) => queue === pool) ?? {}
    return { queue: pool, pending, processing, oldestMs, lanes, accepted, completed, failed }
  })
  const slowest = recent.stages.toSorted((one, other) => other.p95Ms - one.p95Ms)
  return {
    queues: queues.toSorted((one, other) => one.queue.localeCompare(other.queue)),
    pauses,
    /** Slowest first, without `total`. */
    stages: slowest.filter(({ stage }) => stage !== 'total'),
    total: slowest.find(({ stage }) => stage === 'total'),
    failures: recent.failures.map(({ url, ...failure }) => ({ ...failure, host: parseHost(url) })),
  }
}

const toReason = (thrown: unknown): string => {
  const { message, cause } = thrown as Error
  return cause instanceof Error ? `${message} (${cause.message})` : message
}

/** Reads both sources in parallel; a source that fails or times out does not affect the other. */
export const takeSnapshot = async ({ source, database, controllerUrl, stop }: Sources, at: Date) => {
  const [pools, captures] = await Promise.all([
    controllerUrl === undefined
      ? 'no address of a controller: give that of its metrics with --metrics'
      : readPools(controllerUrl, stop, answerMs).catch(toReason),
    database === undefined
      ? 'no database: set SHUTTERFLEET_DATABASE_URL'
      : readCaptures(database, at.getTime()).catch(toReason),
  ])
  return { at, source, pools, captures }
}
