import t from 'tap'
import { createEvents as createControllerEvents } from '#controller/telemetry/events.ts'
import { createEvents as createEgressEvents, type ConnectionFields } from '#egress/telemetry/events.ts'
import { createEvents as createGatewayEvents } from '#gateway/telemetry/events.ts'
import { createEvents as createLedgerEvents } from '#ledger/telemetry/events.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import { createMetrics, type Metrics } from '#shared/telemetry/metrics.ts'
import { createEvents as createWebhookEvents } from '#webhooks/telemetry/events.ts'
import { createEvents as createWorkerEvents } from '#worker/telemetry/events.ts'

const words = 10_000
const log: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Reports events with `word` in every field that accepts text, so that each word means new accounts, captures and addresses. */
type Feed = (word: string) => void

const feedGateway = (metrics: Metrics): Feed => {
  const events = createGatewayEvents(log, metrics)
  return (word) => {
    const error = new AppError('SERVICE_UNAVAILABLE', { message: word })
    const of = { operation: 'create', requestId: word, traceId: word, accountId: word, inMaintenance: false } as const
    events.answered({ ...of, status: 202, code: undefined, ms: 1, fault: undefined })
    events.answered({ ...of, status: 503, code: 'SERVICE_UNAVAILABLE', ms: 1, fault: error })
    events.administered({ operation: 'account_create', actor: undefined, status: 500, requestId: word, fault: error })
    events.unreadable(new Error(word))
    events.accepted({ lane: 'bulk', admitted: true, as: 'own' })
    events.notPublished(word, error)
    events.outboxKept(1, error)
    events.imageMissing(word)
    events.queueNotice({ kind: 'error', detail: word })
    events.proxyIgnored(word)
  }
}

const feedLedger = (metrics: Metrics): Feed => {
  const events = createLedgerEvents(log, metrics)
  return (word) => {
    const error = new AppError('SERVICE_UNAVAILABLE', { message: word })
    const capture = { id: word, accountId: word, pool: 'standard', lane: 'bulk', traceparent: null } as const
    events.begun(capture, 1)
    events.ended(capture, { status: 'failed', code: 'TIMEOUT' })
    events.reaped(capture, 'given_up')
    events.lost(word, [word])
    events.reportIgnored(word, 'token')
    events.reportsFailed(1, error)
    events.tooLarge(word, error)
    const top = Array.from({ length: 10 }, (_, nth) => ({
      account: `account-${nth}`,
      waiting: 1,
      processing: 1,
      completed: 9,
    }))
    events.accountsCounted([{ ...top[0]!, account: word }])
    events.accountsCounted(top)
    events.metersDiffer(word, [])
    events.loopFailed('relay', error, false)
    events.stateUnreadable('proxied', error)
    events.queueNotice({ kind: 'lost', detail: word })
  }
}

const feedWebhooks = (metrics: Metrics): Feed => {
  const events = createWebhookEvents(log, metrics)
  return (word) => {
    events.attempted({ id: word, event: word, traceId: word, failure: 'status', status: 500, ms: 1, givenUp: true })
    events.unreadable(word, new Error(word))
    events.roundFailed(new AppError('SERVICE_UNAVAILABLE', { message: word }), true)
  }
}

const feedWorker = (metrics: Metrics): Feed => {
  const events = createWorkerEvents(log, metrics)
  return (word) => {
    const error = new AppError('JOB_FAILED', { message: word })
    const result = { id: word, attempt: 1, token: word, timings: { total: 1 } }
    const shot = { objectKey: word, bytes: 1, sha256: word, width: 1, height: 1 }
    events.begun({ id: word, attempt: 1, traceId: word })
    events.ended({ ...result, ...shot, outcome: 'completed' }, word)
    events.ended({ ...result, outcome: 'failed', code: 'TIMEOUT' }, word)
    events.interrupted({ id: word, attempt: 1 }, { by: 'browser', detail: word, fate: { kind: 'lost' } })
    events.dropped(word, 'ended')
    events.lost(word, error)
    events.hostFailed(error)
    events.hostGone(word)
    events.held('browser', word)
    events.queue({ kind: 'error', detail: word })
  }
}

const feedEgress = (metrics: Metrics): Feed => {
  const events = createEgressEvents(log, metrics)
  return (word) => {
    const connection: ConnectionFields = { kind: 'tunnel', capture: word, host: word, route: 'http_proxy', proxy: word }
    events.opened(connection)
    events.ended(connection, { end: 'closed', bytes: 1 })
    events.refused(connection, new AppError('DNS_FAILED', { message: word }))
    events.unreadable(new Error(word))
  }
}

const feedController = (metrics: Metrics): Feed => {
  const events = createControllerEvents(log, metrics)
  const pool = events.forPool({ queue: 'standard', browserpool: 'standard' })
  return (word) => {
    events.malformed(word)
    events.queue({ kind: 'error', detail: word })
    pool.tickFailed(new AppError('SERVICE_UNAVAILABLE', { message: word }))
  }
}

const feeds = {
  gateway: feedGateway,
  ledger: feedLedger,
  webhooks: feedWebhooks,
  worker: feedWorker,
  egress: feedEgress,
  controller: feedController,
}

for (const [service, feed] of Object.entries(feeds)) {
  t.test(`metrics of ${service}: ${words} accounts, addresses and headers create no additional series`, async (t) => {
    const metrics = createMetrics(service)
    const report = feed(metrics)
    const read = async () =>
      [...(await metrics.text()).matchAll(/^(shutterfleet_.*) \S+$/gm)].map(([, series]) => series)
    report('h0stile-first')
    const before = await read()
    for (let nth = 0; nth < words; nth += 1) report(`h0stile-${nth}`)
    const after = await read()
    t.ok(after.length > 1)
    t.strictSame(after, before)
    t.notMatch(after.join('\n'), 'h0stile')
  })
}

/** Bounds of histograms in seconds that an objective or a deadline names. */
const bounds = [
  ['gateway', 'http_request_seconds', [1, 2, 10, 120]],
  ['ledger', 'capture_queue_seconds', [2, 10, 120]],
  ['ledger', 'capture_processing_seconds', [2, 10, 120]],
  ['ledger', 'capture_stage_seconds', [2, 10, 120]],
  ['controller', 'pool_worker_start_seconds', [10, 120, 600]],
] as const

for (const [service, histogram, expected] of bounds) {
  t.test(`metrics of ${service}: ${histogram} has the bounds of objectives`, async (t) => {
    const found: number[] = []
    const metrics = createMetrics(service)
    feeds[service]({
      ...metrics,
      declare: (table) => {
        const description = table[histogram]
        if (description && 'buckets' in description) found.push(...description.buckets)
        return metrics.declare(table)
      },
    })
    t.strictSame(
      expected.filter((bound) => !found.includes(bound)),
      [],
    )
    t.strictSame(
      found,
      found.toSorted((one, other) => one - other),
    )
  })
}
