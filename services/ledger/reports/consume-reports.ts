import { isTimeout } from '#shared/db/classify-error.ts'
import { type AppError, toAppError } from '#shared/errors/app-error.ts'
import type { Delivery } from '#shared/queue/pull.ts'
import { openStandingPull, type StandingPull } from './standing-pull.ts'
import { parseReportSubject } from '#shared/queue/subjects.ts'
import { ledgerConsumer, reportAckWaitSeconds, resultsStream } from '#shared/queue/topology.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { applyReports } from './apply-reports.ts'
import { readReport } from './read-report.ts'

type Dependencies = Parameters<typeof applyReports>[0]

const batchReports = 200
const redeliveryMs = 1000
/** Most halvings for timeouts: enough to find one slow report in a full batch. */
const halvingsMax = Math.ceil(Math.log2(batchReports))
/** Longest delay until a record becomes `processing`. */
const startHoldMs = 500

const readAll = (ledger: Dependencies, deliveries: readonly Delivery[]) =>
  deliveries.flatMap((delivery) => {
    const report = readReport(delivery)
    if (report) return [report]
    ledger.events.reportIgnored(delivery.subject, 'unreadable')
    return []
  })

/** Applies deliveries in one transaction and acks them; resolves to the error if it fails. */
const applyTogether = async (ledger: Dependencies, deliveries: readonly Delivery[]): Promise<AppError | undefined> => {
  const began = performance.now()
  try {
    await applyReports(ledger, readAll(ledger, deliveries))
  } catch (thrown) {
    const error = toAppError(thrown)
    ledger.events.reportsFailed(deliveries.length, error)
    return error
  }
  for (const { ack } of deliveries) ack()
  ledger.events.reportsApplied(deliveries.length, performance.now() - began)
  return undefined
}

/**
 * Applies a batch of deliveries and acks them; naks them on failure. One that PostgreSQL rejects does not block the others, which are
 * then applied one by one, nor do those that together take longer than a statement may: they are applied in halves.
 */
export const applyDeliveries = async (ledger: Dependencies, deliveries: readonly Delivery[]): Promise<void> => {
  const batches = [deliveries]
  let halvings = 0
  for (const batch of batches) {
    const error = await applyTogether(ledger, batch)
    if (!error) continue
    if (batch.length > 1 && error.code === 'SERVER_ERROR') {
      batches.push(...batch.map((delivery) => [delivery]))
    } else if (batch.length > 1 && isTimeout(error) && halvings < halvingsMax) {
      halvings += 1
      const middle = Math.ceil(batch.length / 2)
      batches.push(batch.slice(0, middle), batch.slice(middle))
    } else {
      for (const { nak } of batch) nak(redeliveryMs)
    }
  }
}

const isStart = ({ subject }: Delivery) => parseReportSubject(subject)?.kind === 'started'

/**
 * Takes all deliveries that have arrived. If all are starts, waits up to `startHoldMs` for a result of any capture, so that
 * the starts share its transaction.
 */
export const takeBatch = async (pull: StandingPull, stop: AbortSignal): Promise<Delivery[]> => {
  const taken = await pull.take(stop)
  const enough = AbortSignal.any([stop, AbortSignal.timeout(startHoldMs)])
  while (taken.length < batchReports && taken.every(isStart) && !enough.aborted)
    taken.push(...(await pull.take(enough)))
  return taken
}

/** Consumes workers' reports in batches until `stop` aborts; the current batch is finished. */
export const consumeReports = async (
  ledger: Dependencies & { readonly queue: Queue; readonly rest: { readonly markBusy: () => void } },
  stop: AbortSignal,
): Promise<void> => {
  const from = {
    stream: resultsStream.name,
    consumer: ledgerConsumer.durable_name,
    ackWaitMs: reportAckWaitSeconds * 1000,
    batch: batchReports,
  }
  using pull = openStandingPull(ledger.queue, from)
  while (!stop.aborted) {
    const deliveries = await takeBatch(pull, stop)
    if (deliveries.length === 0) continue
    ledger.rest.markBusy()
    await applyDeliveries(ledger, deliveries)
  }
}
