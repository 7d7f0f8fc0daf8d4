/** States of a capture, in the only order in which they may follow each other; the last two are terminal. */
export const statuses = ['pending', 'processing', 'completed', 'failed'] as const

/** A state of a capture's record. */
export type Status = (typeof statuses)[number]

/** Whether a state is final. */
export const isTerminal = (status: Status): boolean => status === 'completed' || status === 'failed'
