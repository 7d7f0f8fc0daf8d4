import { type Lane, lanes, type Pool, pools } from '#shared/capture/lane.ts'
import { captureFilter, probeFilter, reportFilters } from './subjects.ts'

const seconds = 1_000_000_000

/** Seconds until a delivery without progress is redelivered; workers report progress every third of it. */
export const ackWaitSeconds = 10

/** The same for a report: a ledger that was killed holds those that it had not applied for this long. */
export const reportAckWaitSeconds = 5

/** Largest message in bytes; a 500,000-character source, escaped and sealed, fits. The shipped NATS configuration allows it. */
export const maxMessageBytes = 8 * 1024 * 1024

/** The stream of captures that wait for a worker. One message per subject: a second is rejected while the first is stored. */
export const capturesStream = {
  name: 'CAPTURES',
  subjects: [captureFilter(), probeFilter('CAPTURES')],
  retention: 'workqueue',
  storage: 'file',
  discard: 'new',
  max_msgs_per_subject: 1,
  discard_new_per_subject: true,
  allow_direct: true,
  allow_msg_ttl: true,
} as const

/** The stream of workers' reports. Two hours is longer than any capture's three attempts. Its size is `resultsMaxBytes` unless one is set. */
export const resultsStream = {
  name: 'RESULTS',
  subjects: [...reportFilters, probeFilter('RESULTS')],
  retention: 'limits',
  storage: 'file',
  discard: 'old',
  max_age: 7200 * seconds,
  allow_direct: true,
  allow_msg_ttl: true,
} as const

/** Largest size in bytes of a new results stream: reports of about 1.4 million captures. */
export const resultsMaxBytes = 1024 * 1024 * 1024

/** Name of the consumer that serves one lane of a pool. */
export const laneConsumerName = (pool: Pool, lane: Lane): string => `${pool}-${lane}`

/** The consumers of the captures stream: one for each pool and lane, since filters of a work queue may not overlap. */
export const laneConsumers = pools.flatMap((pool) =>
  lanes.map((lane) => ({
    durable_name: laneConsumerName(pool, lane),
    filter_subject: captureFilter({ pool, lane }),
    ack_policy: 'explicit' as const,
    ack_wait: ackWaitSeconds * seconds,
    max_deliver: -1,
    max_ack_pending: 10_000,
    max_waiting: 2048,
  })),
)

/** The consumer of the results stream that all ledgers share. */
export const ledgerConsumer = {
  durable_name: 'ledger',
  filter_subjects: [...reportFilters],
  ack_policy: 'explicit' as const,
  ack_wait: reportAckWaitSeconds * seconds,
  max_deliver: -1,
  max_ack_pending: 5_000,
} as const
