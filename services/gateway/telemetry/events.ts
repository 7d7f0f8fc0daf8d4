import type { Lane } from '#shared/capture/lane.ts'
import type { Shared } from '#shared/db/check-request.ts'
import type { Actor } from '#shared/db/audit.ts'
import type { AppError } from '#shared/errors/app-error.ts'
import type { ErrorCode } from '#shared/errors/catalog.ts'
import type { QueueNotice } from '#shared/queue/connection.ts'
import { createCertificateEvents } from '#shared/telemetry/certificate-events.ts'
import { createIdentityEvents } from '#shared/telemetry/identity-events.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { DeclaredMetrics, Metrics, MetricTable } from '#shared/telemetry/metrics.ts'
import { createStoreEvents } from '#shared/process/store-watch.ts'
import type { SignInError } from '#gateway/oidc/sign-in-error.ts'
import { createBoundEvents } from './bound-events.ts'

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
  /** What is refused then is counted apart: an operator wanted it. */
  readonly inMaintenance: boolean
  readonly ms: number
  readonly requestId: string
  readonly traceId: string | undefined
  /** Only for the exemplar. */
  readonly sampledTraceId?: string | undefined
  readonly accountId: string | undefined
  /** The error behind a 5xx status, only for the log. */
  readonly fault: AppError | undefined
}

/** How the wait for a synchronous capture ended; `accepted`: timeout or shutdown, `full`: too many waits already. */
export type WaitEnd = 'completed' | 'failed' | 'accepted' | 'full'

/** Who served a read that may come from the replica of PostgreSQL: it, or the primary, because it was behind, failed, or is not in use. */
export type ReplicaOutcome = 'replica' | 'behind' | 'failed' | 'unused'

/** What a view of a link that captures on demand got. */
export type LinkImage = 'fresh' | 'stale' | 'made' | 'placeholder'

/** `own`: a new capture; `hit`, `follows`: one that shares another's result; `batch`: one of a batch; `replay`: none, a repeated request. */
export type AcceptedAs = 'own' | Shared | 'batch' | 'replay'

/** A request to the admin API. `actor` is undefined if the token is missing or wrong. */
type Administered = {
  readonly operation: string
  readonly actor: Actor | undefined
  readonly status: number
  readonly requestId: string
  readonly fault: AppError | undefined
}

const metricTable = {
  http_requests_total: {
    counter:
      'Requests answered; code is that of the error, none, MAINTENANCE for what is refused during maintenance, or OVER_SHARE for bodies above the share of their client or account',
    labels: ['operation', 'status', 'code'],
  },
  http_request_seconds: {
    histogram: 'Time to the answer; synchronous captures include the capture, status_wait its wait',
    labels: ['operation'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120],
    hasExemplars: true,
  },
  http_connections_unreadable_total: { counter: 'Connections without a readable request' },
  captures_accepted_total: {
    counter: 'Captures accepted; as is own, hit, follows (both share a result), batch, or replay (nothing new)',
    labels: ['lane', 'admitted', 'as'],
  },
  sync_waits_total: { counter: 'Synchronous captures by the outcome of their wait', labels: ['outcome'] },
  link_views_total: {
    counter:
      'Views of links that capture on demand: fresh or stale images, made while the view waited, or placeholders',
    labels: ['image'],
  },
  link_refreshes_refused_total: {
    counter: 'Views that got a stale image of which no new capture could be accepted, by the reason',
    labels: ['code'],
  },
  event_streams_ended_total: { counter: 'Streams of events by what ended them', labels: ['end'] },
  captures_published_total: { counter: 'Captures put into the queue', labels: ['lane'] },
  captures_left_to_relay_total: { counter: 'Captures that could not be put into the queue' },
  images_missing_total: { counter: 'Images that are not in the store as reported' },
  browser_age_seconds_max: { gauge: 'Age above which browsers are reported as old, as set for the gateway' },
  uploads_total: { counter: 'Images put with the files driver', labels: ['status'] },
} as const satisfies MetricTable

/** An error of a client library says what happened in its own causes, four of them at most. */
const describeCause = (cause: unknown): string => {
  const messages: string[] = []
  for (let at: unknown = cause; at instanceof Error && messages.length < 4; at = at.cause) messages.push(at.message)
  return messages.join(': ')
}

const createSignInEvents = (log: Logger, metrics: Metrics) => {
  const metric = metrics.declare({
    provider_sign_ins_total: {
      counter: 'Returns from the OpenID Connect provider and failed starts, by outcome',
      labels: ['outcome'],
    },
  } as const satisfies MetricTable)
  return {
    signInFailureLost: (cause: unknown) => log.warn({ reason: String(cause) }, 'failed sign-in could not be recorded'),
    signedInByProvider: () => metric.provider_sign_ins_total.inc({ outcome: 'signed_in' }),
    providerSignInFailed: ({ reason, message, cause }: SignInError) => {
      metric.provider_sign_ins_total.inc({ outcome: reason })
      const line = { outcome: reason, reason: message, ...(cause !== undefined && { cause: describeCause(cause) }) }
      if (reason === 'provider' || reason === 'failed')
        log.warn(line, 'sign-in with the OpenID Connect provider failed')
      else log.info(line, 'sign-in with the OpenID Connect provider failed')
    },
  }
}

const createActivityEvents = (log: Logger, metrics: Metrics) => {
  const metric = metrics.declare({
    activity_recorded_total: { counter: 'Activities of authenticated requests that were stored' },
    activity_lost_total: { counter: 'Activities that could not be stored, because too many waited for PostgreSQL' },
    activity_exported_total: { counter: 'Activities that the receiver of logs has taken' },
    activity_export_lost_total: {
      counter:
        'Activities that were stored but did not reach the receiver of logs, because it failed or too many waited for it',
    },
  } as const satisfies MetricTable)
  return {
    activityRecorded: (rows: number) => metric.activity_recorded_total.inc(rows),
    /** A write of activities failed; it is repeated. */
    activityDelayed: (cause: unknown) => log.warn({ reason: String(cause) }, 'activities could not be stored'),
    activityLost: (rows: number) => {
      metric.activity_lost_total.inc(rows)
      log.error({ rows }, 'activities were lost')
    },
    activityExported: (records: number) => metric.activity_exported_total.inc(records),
    /** `cause`: why the receiver did not take them; undefined if too many waited. */
    activityNotExported: (records: number, cause: Error | undefined) => {
      metric.activity_export_lost_total.inc(records)
      log.warn({ records, reason: cause?.message ?? 'too many waited' }, 'activities could not be exported')
    },
  }
}

const createReplicaEvents = (log: Logger, metrics: Metrics) => {
  const metric = metrics.declare({
    replica_used: {
      gauge:
        '1 while lists, batches and usage by day are read from the replica of PostgreSQL, 0 while from the primary',
    },
    replica_reads_total: {
      counter:
        'Reads that may come from the replica, by outcome: replica, or why the primary served them: behind, failed (also too slow) or unused',
      labels: ['outcome'],
      initial: (['replica', 'behind', 'failed', 'unused'] satisfies ReplicaOutcome[]).map((outcome) => ({ outcome })),
    },
  } as const satisfies MetricTable)
  let logged = ''
  return {
    replicaRead: (outcome: ReplicaOutcome) => metric.replica_reads_total.inc({ outcome }),
    replicaUsed: () => {
      metric.replica_used.set(1)
      logged = ''
      log.info({}, 'reading lists from the replica of PostgreSQL')
    },
    /** Called again for each failed try to use it again; logged when the reason changes. */
    replicaLeft: (cause: unknown) => {
      metric.replica_used.set(0)
      const reason = String(cause)
      if (reason !== logged) log.warn({ reason }, 'replica of PostgreSQL not used, reading lists from the primary')
      logged = reason
    },
  }
}

/** What the service is not to blame for is counted apart from its faults. */
const countedCode = ({ code, fault, inMaintenance }: Pick<Answered, 'code' | 'fault' | 'inMaintenance'>): string => {
  if (code !== 'SERVICE_UNAVAILABLE') return code ?? 'none'
  return inMaintenance ? 'MAINTENANCE' : fault?.blame === 'caller' ? 'OVER_SHARE' : code
}

const requestEvents = (log: Logger, metric: DeclaredMetrics<typeof metricTable>) => ({
  /** An operation is going to be served: the counts of its faults start at 0. */
  operationServed: (operation: string) => {
    metric.http_requests_total.inc({ operation, status: '500', code: 'SERVER_ERROR' }, 0)
    metric.http_requests_total.inc({ operation, status: '503', code: 'SERVICE_UNAVAILABLE' }, 0)
  },
  answered: ({ fault, sampledTraceId, inMaintenance, ...line }: Answered) => {
    const { operation, status, ms } = line
    const code = countedCode({ fault, inMaintenance, ...line })
    metric.http_requests_total.inc({ operation, status: String(status), code })
    metric.http_request_seconds.observe({ operation }, ms / 1000, sampledTraceId)
    if (fault?.blame === 'caller') log.info(line, 'answered')
    else if (fault?.code === 'SERVER_ERROR') log.error({ ...line, err: fault }, 'request failed with a server error')
    // Without a fault: the capture that the request waited for failed.
    else if (status >= 500) log.error({ ...line, reason: fault?.message }, 'request failed with a server error')
    else log.info(line, 'answered')
  },
})

/** One function per event, which writes log line and metric. */
export type Events = ReturnType<typeof createEvents>

/** Declares the metrics and returns the event functions. */
export const createEvents = (log: Logger, metrics: Metrics) => {
  const metric = metrics.declare(metricTable)
  return {
    ...createStoreEvents(log, metrics),
    ...createCertificateEvents(log, metrics),
    ...createIdentityEvents(log, metrics),
    ...createSignInEvents(log, metrics),
    ...createActivityEvents(log, metrics),
    ...createReplicaEvents(log, metrics),
    ...createBoundEvents(metrics),
    listening: (addresses: Readonly<Record<string, string>>) => log.info(addresses, 'listening'),
    browserAgeMax: (days: number) => metric.browser_age_seconds_max.set(days * 86_400),
    ...requestEvents(log, metric),
    /** A connection sent invalid HTTP or too large a head, or was too slow. */
    unreadable: (cause: Error) => {
      metric.http_connections_unreadable_total.inc()
      log.debug({ reason: cause.message }, 'unreadable request')
    },
    accepted: ({ lane, admitted, as }: { lane: Lane; admitted: boolean; as: AcceptedAs }) =>
      metric.captures_accepted_total.inc({ lane, admitted: String(admitted), as }),
    waited: (outcome: WaitEnd) => metric.sync_waits_total.inc({ outcome }),
    linkViewed: (image: LinkImage) => metric.link_views_total.inc({ image }),
    linkNotRefreshed: ({ code, blame, message }: AppError) => {
      metric.link_refreshes_refused_total.inc({ code })
      if (blame === 'service') log.warn({ code, reason: message }, 'a stale link could not be captured anew')
    },
    streamed: (end: StreamEnd) => metric.event_streams_ended_total.inc({ end }),
    administered: ({ fault, ...line }: Administered) => {
      if (line.status >= 500) log.error({ ...line, err: fault }, 'admin request')
      else log.info({ ...line, ...(fault && { code: fault.code }) }, 'admin request')
    },
    published: (lane: Lane) => metric.captures_published_total.inc({ lane }),
    notPublished: (id: string, cause: unknown) => {
      metric.captures_left_to_relay_total.inc()
      log.warn({ capture: id, reason: String(cause) }, 'publishing failed, left to the relay')
    },
    outboxKept: (rows: number, cause: unknown) =>
      log.warn({ rows, reason: String(cause) }, 'published rows could not be deleted from the outbox'),
    /** The image of a completed capture is missing from the store, or differs from the reported one. */
    imageMissing: (id: string) => {
      metric.images_missing_total.inc()
      log.error({ capture: id }, 'the image of a completed capture is missing')
    },
    /** A worker's request for a new address got no response; it is repeated. */
    notSigned: (id: string, cause: unknown) =>
      log.warn({ capture: id, reason: String(cause) }, 'the address of an image could not be signed'),
    /** `cause`: why the files driver could not store the image. */
    uploaded: (status: number, cause?: Error) => {
      metric.uploads_total.inc({ status: String(status) })
      if (cause === undefined) return
      log.error({ status, reason: String(cause) }, 'an image could not be written below SHUTTERFLEET_STORAGE_FOLDER')
    },
    /** A proxy that is not trusted sent `X-Forwarded-For`; called once per process. */
    proxyIgnored: (peer: string) => log.warn({ peer }, proxyAdvice(peer)),
    queueNotice: (notice: QueueNotice) => log.warn(notice, 'connection to NATS'),
    draining: (waiting: number) => log.info({ waiting }, 'draining'),
  }
}
