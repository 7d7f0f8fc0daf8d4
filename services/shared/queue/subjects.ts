import { type Lane, lanes, type Pool, pools } from '#shared/capture/lane.ts'

const all = '>'
const any = '*'
const started = 'started'
const result = 'result'

/** Subject of a stored capture that waits for a worker; at most one message each. */
export const captureSubject = (capture: { pool: Pool; lane: Lane; accountId: string; id: string }): string =>
  `capture.${capture.pool}.${capture.lane}.${capture.accountId}.${capture.id}`

/** The capture's id in the subject of a stored capture or a report. */
export const parseCaptureId = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1)

/** The lane in the subject of a stored capture. Throws a `TypeError` for another subject. */
export const parseCaptureLane = (subject: string): Lane => {
  const name = subject.split('.')[2]
  const lane = lanes.find((each) => each === name)
  if (!lane) throw new TypeError(`${subject}: is not the subject of a stored capture`)
  return lane
}

/** The account's id in the subject of a stored capture. */
export const parseCaptureAccountId = (subject: string): string => subject.split('.')[3] ?? ''

/** All captures of one lane of a pool, or of all pools and lanes. */
export const captureFilter = (lane?: { pool: Pool; lane: Lane }): string =>
  lane ? `capture.${lane.pool}.${lane.lane}.${all}` : `capture.${all}`

/** Subject of a worker's report that an attempt has begun. Stored. */
export const startedSubject = (capture: { pool: Pool; id: string }): string =>
  `${started}.${capture.pool}.${capture.id}`

/** Subject of a worker's report of an attempt's result. Stored. */
export const resultSubject = (capture: { pool: Pool; id: string }): string => `${result}.${capture.pool}.${capture.id}`

/** Subject of a worker's request for a newly signed address for the image of a capture. Not stored. */
export const signSubject = (capture: { pool: Pool; id: string }): string => `sign.${capture.pool}.${capture.id}`

/** All requests of a pool's workers for signed addresses. */
export const signFilter = (pool: Pool): string => signSubject({ pool, id: any })

/** Both kinds of report on all captures of one pool. */
export const poolReportFilters = (pool: Pool): readonly string[] => [
  startedSubject({ pool, id: any }),
  resultSubject({ pool, id: any }),
]

/** The result reports of all captures: what a gateway may subscribe to, which it does capture by capture. */
export const resultFilter = `${result}.${any}.${any}`

/** Both kinds of report of all captures. */
export const reportFilters: readonly string[] = [`${started}.${any}.${any}`, resultFilter]

/** Parses the subject of a report; only its pool shows which workers may have sent it. Undefined for other subjects. */
export const parseReportSubject = (
  subject: string,
): { kind: 'started' | 'result'; pool: Pool; id: string } | undefined => {
  const [kind, name, id, more] = subject.split('.')
  const pool = pools.find((each) => each === name)
  if (!pool || !id || more !== undefined || (kind !== started && kind !== result)) return undefined
  return { kind, pool, id }
}

/** Published after the commit of a terminal status. Not stored. */
export const eventSubject = (capture: { accountId: string; id: string }): string =>
  `event.${capture.accountId}.${capture.id}`

/** All events of an account, or of all accounts. */
export const eventFilter = (accountId = any): string => eventSubject({ accountId, id: any })

/** A worker's heartbeat. Not stored. */
export const heartbeatSubject = (worker: { pool: Pool; pod: string }): string =>
  `worker.${worker.pool}.${worker.pod}.beat`

/** The heartbeats of a whole pool. */
export const heartbeatFilter = (pool: Pool): string => `worker.${pool}.*.beat`

/** Drains one worker: it stops pulling. Not stored. */
export const drainSubject = (worker: { pool: Pool; pod: string }): string => `worker.${worker.pool}.${worker.pod}.drain`

/** Ends the drain of a worker: it pulls again. Not stored. */
export const undrainSubject = (worker: { pool: Pool; pod: string }): string =>
  `worker.${worker.pool}.${worker.pod}.undrain`

/** Wakes the controller's loop of a pool. Not stored. */
export const poolWakeupSubject = (pool: Pool): string => `pool.${pool}.poke`

/** Whether workers of a pool can be started; see `poolStateCodec`. Not stored. */
export const poolStateSubject = (pool: Pool): string => `pool.${pool}.state`

/** The controller's decisions on the pools that serve a queue; see `decisionCodec`. Not stored. */
export const decisionSubject = (pool: Pool): string => `pool.${pool}.decision`

/** All reports of a pool's workers that an attempt has begun. */
export const startedFilter = (pool: Pool): string => startedSubject({ pool, id: any })

/** The ledger's backlog report of a pool, published every second. Not stored. */
export const backlogSubject = (pool: Pool): string => `backlog.${pool}`

/** Subjects of the messages that only show whether a stream stores them. */
export const probeFilter = (stream: string): string => `probe.${stream}.${any}`

/** Wakes the ledger's relay. Not stored. */
export const relayWakeupSubject = 'relay.nudge'
