import { toAppError } from '#shared/errors/app-error.ts'
import type { Delivery } from '#shared/queue/pull.ts'
import { openStandingPull, type StandingPull } from '#ledger/standing-pull.ts'
import { parseReportSubject } from '#shared/queue/subjects.ts'
import { ledgerConsumer, resultsStream } from '#shared/queue/topology.ts'
import type { Ledger } from '#ledger/context.ts'
import { applyReports } from './apply-reports.ts'
import { readReport } from './read-report.ts'

type Dependencies = Parameters<typeof applyReports>[0]

const batchReports = 200
const againMs = 1000
/** Delay with which a record may become `processing`. */
const startHoldMs = 500

const readAll = (ledger: Dependencies, deliveries: readonly Delivery[]) =>
  deliveries.flatMap((delivery) => {
    const report = readReport(delivery)
    if (report) return [report]
    ledger.events.reportIgnored(delivery.subject, 'unreadable')
    return []
  })

/** Applies a batch of deliveries and acknowledges them; where that fails they are redelivered. One that PostgreSQL rejects does not hold up the others. */
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

const isStart = ({ subject }: Delivery) => parseReportSubject(subject)?.kind === 'started'

/**
 * Takes all deliveries that are there. Starts alone are held for a moment: together with a result that arrives meanwhile, of
 * any capture, they need no transaction of their own.
 */
export const takeTogether = async (pull: StandingPull, stop: AbortSignal): Promise<Delivery[]> => {
  const taken = await pull.take(stop)
  const enough = AbortSignal.any([stop, AbortSignal.timeout(startHoldMs)])
  while (taken.length < batchReports && taken.every(isStart) && !enough.aborted)
    taken.push(...(await pull.take(enough)))
  return taken
}

/** Reads workers' reports in batches until `stop` aborts; a batch under way is finished. */
export const consumeReports = async (
  ledger: Dependencies & Pick<Ledger, 'queue' | 'idleMonitor'>,
  stop: AbortSignal,
): Promise<void> => {
  const from = { stream: resultsStream.name, consumer: ledgerConsumer.durable_name, batch: batchReports }
  using pull = openStandingPull(ledger.queue, from)
  while (!stop.aborted) {
    const deliveries = await takeTogether(pull, stop)
    if (deliveries.length === 0) continue
    ledger.idleMonitor.markBusy()
    await applyDeliveries(ledger, deliveries)
  }
}
