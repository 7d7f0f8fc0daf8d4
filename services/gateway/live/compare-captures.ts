import { isTerminal } from '#shared/capture/status.ts'
import type { CaptureState, RecentCaptures } from '#gateway/db/recent-captures.ts'

/** What has changed between two reads of an account's captures. */
export type CaptureChanges = {
  /** Ids of captures that are new or have another status, oldest first. */
  readonly changed: readonly string[]
  /** Ids of captures that had not ended and are no longer among those read: each has ended or was deleted. */
  readonly left: readonly string[]
  /** Ids of captures that had ended and were deleted. */
  readonly deleted: readonly string[]
  /** Whether captures may have changed that neither read contains. */
  readonly more: boolean
}

const byId = ({ newest, open }: RecentCaptures): Map<string, CaptureState> =>
  new Map([...open, ...newest].map((capture) => [capture.id, capture]))

const isOlder = (one: CaptureState, other: CaptureState) =>
  one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.id < other.id)

/** Whether the capture would be among the newest if it existed. */
const isInReach = (capture: CaptureState, { newest, isAll }: RecentCaptures) => {
  const oldest = newest.at(-1)
  return isAll || (oldest !== undefined && !isOlder(capture, oldest))
}

/** Whether no capture connects the newest ones of both reads, so that others may have come and gone between them. */
const hasGap = (before: RecentCaptures, known: ReadonlyMap<string, CaptureState>, { newest, isAll }: RecentCaptures) =>
  !isAll && before.newest.length > 0 && newest.every(({ id }) => !known.has(id))

/** Compares two reads of the captures of an account. */
export const compareCaptures = (before: RecentCaptures, now: RecentCaptures): CaptureChanges => {
  const known = byId(before)
  const current = byId(now)
  const isNewest = new Set(now.newest.map(({ id }) => id))
  const changed: CaptureState[] = []
  let more = !before.hasAllOpen || !now.hasAllOpen || hasGap(before, known, now)
  for (const capture of current.values()) {
    const earlier = known.get(capture.id)
    // An older capture appears only where deletions or a cut list made room for it: nothing is known of what it was.
    const isNew = earlier === undefined && isNewest.has(capture.id) && isInReach(capture, before)
    if (isNew || (earlier !== undefined && earlier.status !== capture.status)) changed.push(capture)
    else if (earlier === undefined && !isNewest.has(capture.id)) more = true
  }
  const gone = [...known.values()].filter(({ id }) => !current.has(id))
  return {
    changed: changed.toSorted((one, other) => (isOlder(one, other) ? -1 : 1)).map(({ id }) => id),
    left: gone.filter(({ status }) => !isTerminal(status)).map(({ id }) => id),
    deleted: gone.filter((capture) => isTerminal(capture.status) && isInReach(capture, now)).map(({ id }) => id),
    more,
  }
}
