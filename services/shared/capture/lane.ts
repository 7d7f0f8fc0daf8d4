/** Lanes of a pool, most urgent first: synchronous captures, creates, batches. */
export const lanes = ['interactive', 'normal', 'bulk'] as const

/** One lane of a pool. */
export type Lane = (typeof lanes)[number]

/** Browser pools: headless shell, full Chromium, and single-use workers behind a caller's proxy. */
export const pools = ['standard', 'stealth', 'proxied'] as const

/** A browser pool. */
export type Pool = (typeof pools)[number]

/** Lanes in the order in which free slot `slot` (from 0) looks for work: of eight slots one begins at each lower lane, so that nothing starves. */
export const laneOrder = (slot: number): readonly Lane[] => {
  const turn = slot % 8
  if (turn === 7) return ['bulk', 'interactive', 'normal']
  if (turn === 6) return ['normal', 'interactive', 'bulk']
  return lanes
}
