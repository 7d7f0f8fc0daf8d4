import { isDeepStrictEqual } from 'node:util'
import type { BrowserPoolStatus, PoolConditionType } from '#shared/kube/browser-pool.ts'
import type { Occurrence } from '#shared/kube/recorder.ts'

/** What differs between two things said of a pool: what holds, only numbers and wordings, or nothing. */
export const statusChange = (
  before: BrowserPoolStatus | undefined,
  after: BrowserPoolStatus,
): 'conditions' | 'numbers' | 'nothing' => {
  // Almost always nothing has changed: that is found out without making anything.
  if (before && isDeepStrictEqual(sorted(before), sorted(after))) return 'nothing'
  return before && essence(before) === essence(after) ? 'numbers' : 'conditions'
}

const essence = ({ observedGeneration, conditions = [] }: BrowserPoolStatus): string =>
  JSON.stringify([observedGeneration, byType(conditions.map(({ type, status, reason }) => ({ type, status, reason })))])

const sorted = (status: BrowserPoolStatus) => ({ ...status, conditions: byType(status.conditions ?? []) })

const byType = <T extends { readonly type: string }>(conditions: readonly T[]): readonly T[] =>
  conditions.toSorted((one, other) => Number(one.type > other.type) - Number(one.type < other.type))

/** The part of an event that a change of status decides. */
export type PoolOccurrence = Pick<Occurrence, 'type' | 'reason' | 'action' | 'note'>

type Turn = { readonly status: string; readonly reason: string; readonly message: string }

const turnOf = (status: BrowserPoolStatus | undefined, type: PoolConditionType): Turn | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

/** What has happened to a pool, told by what was said of it before and what is said now. */
export const occurrencesOf = (before: BrowserPoolStatus | undefined, after: BrowserPoolStatus): PoolOccurrence[] => [
  ...troubleTurns(turnOf(before, 'Degraded'), turnOf(after, 'Degraded'), 'Degrade'),
  ...troubleTurns(quotaTurn(before), quotaTurn(after), 'Limit'),
  ...metricsTurns(turnOf(before, 'MetricsAvailable'), turnOf(after, 'MetricsAvailable')),
]

/** At the maximum, all is as somebody wanted it. */
const quotaTurn = (status: BrowserPoolStatus | undefined): Turn | undefined => {
  const turn = turnOf(status, 'ScalingLimited')
  return turn?.reason === 'QuotaExceeded' ? turn : turn && { ...turn, status: 'False' }
}

const troubleTurns = (before: Turn | undefined, after: Turn | undefined, action: string): PoolOccurrence[] => {
  if (after?.status === 'True' && (before?.status !== 'True' || before.reason !== after.reason)) {
    return [{ type: 'Warning', reason: after.reason, action, note: after.message }]
  }
  if (before?.status !== 'True' || after?.status !== 'False') return []
  return [
    { type: 'Normal', reason: 'Recovered', action: `Un${action.toLowerCase()}`, note: `No longer ${before.reason}.` },
  ]
}

const metricsTurns = (before: Turn | undefined, after: Turn | undefined): PoolOccurrence[] => {
  if (after?.status === 'False' && before?.status !== 'False') {
    return [{ type: 'Warning', reason: 'Frozen', action: 'Freeze', note: after.message }]
  }
  if (before?.status !== 'False' || after?.status !== 'True') return []
  return [{ type: 'Normal', reason: 'Thawed', action: 'Thaw', note: after.message }]
}
