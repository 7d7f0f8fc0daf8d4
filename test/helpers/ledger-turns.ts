import { jetstreamManager } from '@nats-io/jetstream'
import { createLoops } from '#ledger/app.ts'
import type { Ledger } from '#ledger/context.ts'
import type { LoopName } from '#ledger/telemetry/events.ts'
import { applyDeliveries } from '#ledger/reports/consume-reports.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { parseReportSubject } from '#shared/queue/subjects.ts'
import { resultsStream } from '#shared/queue/topology.ts'
import type { Stores } from './use-case-faults.ts'

/** Runs these loops of a ledger in turn, each until it finds nothing to do. */
export const turns =
  (...names: LoopName[]) =>
  async (ledger: Ledger): Promise<void> => {
    const loops = new Map(createLoops(ledger, { couldNotStartFor: () => [] }).map((each) => [each.name, each]))
    for (const name of names) {
      // Each batch is a turn.
      for (let more: unknown = true; more === true;) more = await loops.get(name)?.turn()
    }
  }

/** The reports of workers in the order of the stream, as they are delivered until they are acked. */
const storedReports = async (queue: Queue) => {
  const { streams } = await jetstreamManager(queue.connection)
  const { state } = await streams.info(resultsStream.name)
  const sequences = Array.from({ length: state.last_seq - state.first_seq + 1 }, (_, index) => state.first_seq + index)
  const stored = await Promise.all(sequences.map((seq) => streams.getMessage(resultsStream.name, { seq })))
  return stored.flatMap((message) => {
    if (!message || !parseReportSubject(message.subject)) return []
    const { subject, data, timestamp } = message
    let acked = false
    const ack = () => void (acked = true)
    const reportMessage = { subject, data, traceparent: undefined, storedAtMs: Date.parse(timestamp) }
    return [{ ...reportMessage, ack, nak() {}, working() {}, isAcked: () => acked }]
  })
}

/** Applies all reports, also those that were applied before. Throws if the ledger does not ack one. */
export const applyReports = async (ledger: Ledger, { queue }: Pick<Stores, 'queue'>): Promise<void> => {
  const deliveries = await storedReports(queue)
  await applyDeliveries(ledger, deliveries)
  const unacked = deliveries.filter(({ isAcked }) => !isAcked())
  if (unacked.length > 0) throw new Error(`${unacked.length} reports are not acked`)
}
