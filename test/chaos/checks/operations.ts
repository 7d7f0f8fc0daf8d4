import type { Invariant } from './facts.ts'

const pauseHolds: Invariant = {
  name: 'a paused pool captures nothing',
  rule: 'From the report that a paused pool is drained until it is resumed, no browser loads a page.',
  broken: ({ pauses, loads, faults }) => {
    // The report is by the database's clock: it comes too early if that jumps.
    if (faults.some(({ name }) => name.startsWith('clock'))) return []
    return pauses.flatMap(({ drainedMs = Infinity, heldUntilMs }) =>
      loads
        .filter(({ atMs }) => atMs > drainedMs && atMs < heldUntilMs)
        .map(({ path, atMs }) => `${path}: loaded ${Math.round(atMs - drainedMs)} ms after the pool was drained`),
    )
  },
}

const servedOnce: Invariant = {
  name: 'one cell serves an account',
  rule: 'An account is served by exactly one cell; a move that is repeated succeeds, and leaves nothing held up.',
  broken: ({ snapshot }) =>
    snapshot.movable.flatMap(({ account, servedBy, isHeld, isStill }) => [
      ...(servedBy === 1 ? [] : [`account ${account}: served by ${servedBy} cells`]),
      ...(isHeld ? [`account ${account}: still held up`] : []),
      ...(isStill ? [`account ${account}: still where it was`] : []),
    ]),
}

const oldRowsGo: Invariant = {
  name: 'old records are removed',
  rule: 'A record is removed once its retention is over.',
  broken: ({ snapshot, limits }) =>
    snapshot.oldRows.flatMap(({ id, isDue, isThere, plantedMs }) =>
      isDue && isThere && snapshot.atMs - plantedMs > limits.rowRemovalMs ? [`${id}: left after its retention`] : [],
    ),
}

const youngRowsStay: Invariant = {
  name: 'records are kept for their retention',
  rule: 'No record is removed before its retention is over.',
  broken: ({ snapshot }) =>
    snapshot.oldRows.flatMap(({ id, isDue, isThere }) =>
      !isDue && !isThere ? [`${id}: removed before its retention`] : [],
    ),
}

/** Invariants on what operators do: pauses, moves, and the retention of records. */
export const operationInvariants: readonly Invariant[] = [pauseHolds, servedOnce, oldRowsGo, youngRowsStay]
