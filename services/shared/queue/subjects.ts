import type { Lane, Pool } from '#shared/capture/lane.ts'

const all = '>'

/** Subjects of stored captures: one message each, waiting for a worker. */
export const captureSubject = (of: { pool: Pool; lane: Lane; accountId: string; id: string }): string =>
  `capture.${of.pool}.${of.lane}.${of.accountId}.${of.id}`

/** The id of the capture whose stored message has this subject. */
export const captureIdOf = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1)

/** All captures of one lane of a pool, or of everything. */
export const captureFilter = (of?: { pool: Pool; lane: Lane }): string =>
  of ? `capture.${of.pool}.${of.lane}.${all}` : `capture.${all}`

/** The stored subject on which a worker says that an attempt begins. */
export const startedSubject = (id: string): string => `started.${id}`

/** The stored subject on which a worker says how an attempt ended. */
export const resultSubject = (id: string): string => `result.${id}`

/** Both kinds of report of all captures. */
export const reportFilters = ['started.*', 'result.*'] as const

/** The result reports of all captures, for those who want a head start on the commit. */
export const resultFilter = 'result.*'

/** Said after the commit of a terminal status. Not stored. */
export const eventSubject = (of: { accountId: string; id: string }): string => `event.${of.accountId}.${of.id}`

/** All events of all accounts. */
export const eventFilter = 'event.*.*'

/** A worker's sign of life. Not stored. */
export const beatSubject = (of: { pool: Pool; pod: string }): string => `worker.${of.pool}.${of.pod}.beat`

/** The signs of life of a whole pool. */
export const beatFilter = (pool: Pool): string => `worker.${pool}.*.beat`

/** Tells one worker to stop pulling. Not stored. */
export const drainSubject = (of: { pool: Pool; pod: string }): string => `worker.${of.pool}.${of.pod}.drain`

/** Tells a drained worker to take work again. Not stored. */
export const undrainSubject = (of: { pool: Pool; pod: string }): string => `worker.${of.pool}.${of.pod}.undrain`

/** Asks the controller to look at a pool now. Not stored. */
export const pokeSubject = (pool: Pool): string => `pool.${pool}.poke`

/** What the ledger counts of a pool's work, every second. Not stored. */
export const backlogSubject = (pool: Pool): string => `backlog.${pool}`

/** Wakes the ledger's relay. Not stored. */
export const nudgeSubject = 'relay.nudge'
