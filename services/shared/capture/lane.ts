/** Lanes of a pool, most urgent first: synchronous captures, creates, batches. */
export const lanes = ['interactive', 'normal', 'bulk'] as const

/** One lane of a pool. */
export type Lane = (typeof lanes)[number]

/** The lanes of a slot that batches leave to other captures. */
export const reservedLanes: readonly Lane[] = lanes.filter((lane) => lane !== 'bulk')

/** One value for each lane. */
export const byLane = <T>(value: (lane: Lane) => T): Readonly<Record<Lane, T>> => ({
  interactive: value('interactive'),
  normal: value('normal'),
  bulk: value('bulk'),
})

/** Browser pools: headless shell, full Chromium, and single-use workers behind a caller's proxy. */
export const pools = ['standard', 'stealth', 'proxied'] as const

/** A browser pool. */
export type Pool = (typeof pools)[number]
