/** The stages that a worker measures of an attempt, in their order. `total` is its time from `open` to `store`. */
export const workerStages = [
  'queue',
  'claim',
  'open',
  'navigate',
  'prepare',
  'settle',
  'shoot',
  'encode',
  'inspect',
  'store',
  'total',
] as const

/** The stages of a record; `commit` is the ledger's. */
export const stages = [...workerStages, 'commit'] as const

/** One of `stages`. */
export type Stage = (typeof stages)[number]
