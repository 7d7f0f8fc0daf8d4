import { createHash } from 'node:crypto'

/** Names are spread over this many turns of `laneOrder`, which repeats itself after them. */
const turns = 8

/**
 * The slot number by which a single-use worker looks for its capture, as `laneOrder` wants it: drawn from its name, so
 * that one of eight such workers begins at each lower lane.
 */
export const laneTurnOf = (pod: string): number => createHash('sha256').update(pod).digest().readUInt8() % turns
