import type { Lane } from '#shared/capture/lane.ts'
import type { Shared } from '#shared/db/check-request.ts'
import type { Actor } from '#shared/db/audit.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import type { ErrorCode } from '#shared/errors/catalog.ts'
import type { QueueNotice } from '#shared/queue/connection.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import { createStoreEvents } from '#shared/process/store-watch.ts'

/** Why a stream ended. */
export type StreamEnd = 'over' | 'time' | 'stopping' | 'unauthorized' | 'gone'

/** Advice for operators about a proxy whose `X-Forwarded-For` is ignored. */
export const proxyAdvice = (peer: string): string =>
  `X-Forwarded-For from ${peer} ignored: if this is a reverse proxy of yours, set SHUTTERFLEET_TRUSTED_PROXIES, else all its clients share one rate limit`

/** A served request. Contains neither its URL nor its parameters. */
export type Answered = {
  /** Name of the operation; `none` if the request matches none. */
  readonly operation: string
  readonly status: number
  readonly code: ErrorCode | undefined
  readonly ms: number
  readonly requestId: string
  readonly traceId: string | undefined
  readonly accountId: string | undefined
  /** The error behind a 5xx status, only for the log. */
  readonly fault: AppError | undefined
}

/** How the wait for a synchronous capture ended; `accepted`: timeout or shutdown, `full`: too many waits already. */
export type WaitEnd = 'completed' | 'failed' | 'accepted' | 'full'

/** `own`: a new capture; `hit`, `follows`: one that shares another's result; `batch`: one of a batch; `replay`: none, a repeated request. */
export type AcceptedAs = 'own' | Shared | 'batch' | 'replay'

const declare = (metrics: Metrics) => {
  const requests = metrics.counter({
    name: 'http_requests_total',
    help: 'Requests answered',
    labels: ['operation', 'status', 'code'],
  })
  const seconds = metrics.histogram({
    name: 'http_request_seconds',
    help: 'Time to the answer; synchronous captures include the capture',
    labels: ['operation'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  })
  const unreadable = metrics.counter({ name: 'http_unreadable_total', help: 'Connections without a readable request' })
  const accepted = metrics.counter({
    name: 'captures_accepted_total',
    help: 'Captures accepted; as is own, hit, follows (both share a result), batch, or replay (nothing new)',
    labels: ['lane', 'admitted', 'as'],
  })
  const waits = metrics.counter({
    name: 'sync_waits_total',
    help: 'Synchronous captures by the outcome of their wait',
    labels: ['outcome'],
  })
  const streams = metrics.counter({
    name: 'event_streams_total',
    help: 'Streams of events by what ended them',
    labels: ['end'],
  })
  const published = metrics.counter({
    name: 'captures_published_total',
    help: 'Captures put into the queue',
    labels: ['lane'],
  })
  const unpublished = metrics.counter({
    name: 'captures_left_to_relay_total',
    help: 'Captures that could not be put into the queue',
  })
  const missing = metrics.counter({
    name: 'images_missing_total',
    help: 'Images that are not in the store as reported',
  })
  const uploads = metrics.counter({
    name: 'uploads_total',
    help: 'Images put with the files driver',
    labels: ['status'],
  })
  return { requests, seconds, unreadable, accepted, waits, streams, published, unpublished, missing, uploads }
}

/** A request to the admin API. `actor` is undefined if the token is missing or wrong. */
type Administered = {
  readonly operation: string
  readonly actor: Actor | undefined
  readonly status: number
  readonly requestId: string
  readonly fault: AppError | undefined
}

/** One function per event, which writes log line and metric. */
export type Events = ReturnType<typeof createEvents>

/** Declares the metrics and returns the event functions. */
export const createEvents = (log: Logger, metrics: Metrics) => {
  const count = declare(metrics)
  return {
    ...createStoreEvents(log, metrics),
    listening: (addresses: Readonly<Record<string, string>>) => log.info(addresses, 'listening'),
    answered: ({ fault, ...line }: Answered) => {
      const { operation, status, code, ms } = line
      count.requests.inc({ operation, status: String(status), code: code ?? 'none' })
      count.seconds.observe({ operation }, ms / 1000)
      if (fault?.code === 'SERVER_ERROR') log.error({ ...line, err: fault }, 'request failed with a server error')
      else if (fault) log.warn({ ...line, reason: fault.message }, 'request failed with a server error')
      else log.info(line, 'answered')
    },
    /** A connection sent invalid HTTP or too large a head, or was too slow. */
    unreadable: (cause: Error) => {
      count.unreadable.inc()
      log.debug({ reason: cause.message }, 'unreadable request')
    },
    accepted: ({ lane, admitted, as }: { lane: Lane; admitted: boolean; as: AcceptedAs }) =>
      count.accepted.inc({ lane, admitted: String(admitted), as }),
    waited: (outcome: WaitEnd) => count.waits.inc({ outcome }),
    streamed: (end: StreamEnd) => count.streams.inc({ end }),
    administered: ({ fault, ...line }: Administered) => {
      if (line.status >= 500) log.error({ ...line, err: fault }, 'admin request')
      else log.info({ ...line, ...(fault && { code: fault.code }) }, 'admin request')
    },
    published: (lane: Lane) => count.published.inc({ lane }),
    notPublished: (id: string, cause: unknown) => {
      count.unpublished.inc()
      log.warn({ capture: id, reason: String(cause) }, 'publishing failed, left to the relay')
    },
    outboxKept: (rows: number, cause: unknown) =>
      log.warn({ rows, reason: String(cause) }, 'published rows could not be deleted from the outbox'),
    /** The image of a completed capture is missing from the store, or differs from the reported one. */
    imageMissing: (id: string) => {
      count.missing.inc()
      log.error({ capture: id }, 'the image of a completed capture is missing')
    },
    /** A worker's request for a new address got no response; it is repeated. */
    notSigned: (id: string, cause: unknown) =>
      log.warn({ capture: id, reason: String(cause) }, 'the address of an image could not be signed'),
    /** `cause`: why the files driver could not store the image. */
    uploaded: (status: number, cause?: Error) => {
      count.uploads.inc({ status: String(status) })
      if (cause === undefined) return
      log.error({ status, reason: String(cause) }, 'an image could not be written below SHUTTERFLEET_STORAGE_FOLDER')
    },
    /** A proxy that is not trusted sent `X-Forwarded-For`; called once per process. */
    proxyIgnored: (peer: string) => log.warn({ peer }, proxyAdvice(peer)),
    queueNotice: (notice: QueueNotice) => log.warn(notice, 'connection to NATS'),
    draining: (waiting: number) => log.info({ waiting }, 'draining'),
  }
}
