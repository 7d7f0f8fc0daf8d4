import type { Sight } from '#cli/simulation/sight.ts'

/** What a law sees at the start of an empty pool without captures. */
export const idleSight: Sight = {
  nowMs: 0,
  waiting: 0,
  running: 0,
  accepted: 0,
  oldestMs: 0,
  knownMs: 0,
  ready: 0,
  starting: 0,
  draining: 0,
}
