import { setTimeout as pause } from 'node:timers/promises'
import { toAppError } from '#shared/errors/app-error.ts'
import { type Delivery, pullBatch } from '#shared/queue/pull.ts'
import { ledgerConsumer, resultsStream } from '#shared/queue/topology.ts'
import type { Ledger } from '#ledger/context.ts'
import { applyReports } from './apply-reports.ts'
import { readReport } from './read-report.ts'

type Dependencies = Parameters<typeof applyReports>[0]

const batchReports = 200
const pullMs = 5000
const againMs = 1000
/** A pull that is answered at once with nothing met no consumer; it is asked again after a moment. */
const noConsumerMs = 1000
const noConsumerPauseMs = 200

const readAll = (ledger: Dependencies, deliveries: readonly Delivery[]) =>
  deliveries.flatMap((delivery) => {
    const report = readReport(delivery)
    if (report) return [report]
    ledger.events.reportIgnored(delivery.subject, 'unreadable')
    return []
  })

/** Applies a batch of deliveries and acknowledges them; what cannot be written comes again. One that PostgreSQL refuses does not hold up the others. */
export const applyDeliveries = async (ledger: Dependencies, deliveries: readonly Delivery[]): Promise<void> => {
  const began = performance.now()
  try {
    await applyReports(ledger, readAll(ledger, deliveries))
    for (const { ack } of deliveries) ack()
    ledger.events.reportsApplied(deliveries.length, performance.now() - began)
  } catch (thrown) {
    const error = toAppError(thrown)
    ledger.events.reportsFailed(deliveries.length, error)
    if (error.code === 'SERVER_ERROR' && deliveries.length > 1) {
      for (const delivery of deliveries) await applyDeliveries(ledger, [delivery])
    } else {
      for (const { nak } of deliveries) nak(againMs)
    }
  }
}

/** Reads workers' reports until `stop` aborts, what waits at a time as one batch, without lingering for more; a batch in hand is finished. */
export const consumeReports = async (
  ledger: Dependencies & Pick<Ledger, 'queue'>,
  stop: AbortSignal,
): Promise<void> => {
  const from = { stream: resultsStream.name, consumer: ledgerConsumer.durable_name }
  while (!stop.aborted) {
    const began = performance.now()
    const deliveries = await pullBatch(ledger.queue, from, { batch: batchReports, expiresMs: pullMs, signal: stop })
    if (deliveries.length > 0) await applyDeliveries(ledger, deliveries)
    else if (performance.now() - began < noConsumerMs) await pause(noConsumerPauseMs)
  }
}
