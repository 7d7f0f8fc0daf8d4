import { createHash } from 'node:crypto'

/** Names are spread over this many turns of `laneOrder`, which repeats itself after them. */
const turns = 8

/**
 * The turn with which a worker begins to look through the lanes, as `laneOrder` wants it: drawn from its name, so that of
 * eight workers which take a single capture one begins at each lower lane.
 */
export const laneTurnOf = (pod: string): number => createHash('sha256').update(pod).digest().readUInt8() % turns
