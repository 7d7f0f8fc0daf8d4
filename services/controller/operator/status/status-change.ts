import { isDeepStrictEqual } from 'node:util'
import type { BrowserPoolStatus, PoolConditionType } from '#shared/kube/browser-pool.ts'
import type { Occurrence } from '#controller/kube/recorder.ts'

/** What differs between two statuses: conditions, only numbers and messages, or nothing. */
export const statusChange = (
  before: BrowserPoolStatus | undefined,
  after: BrowserPoolStatus,
): 'conditions' | 'numbers' | 'nothing' => {
  if (before && isDeepStrictEqual(sorted(before), sorted(after))) return 'nothing'
  return before && conditionsKey(before) === conditionsKey(after) ? 'numbers' : 'conditions'
}

const conditionsKey = ({ observedGeneration, conditions = [] }: BrowserPoolStatus): string =>
  JSON.stringify([observedGeneration, byType(conditions.map(({ type, status, reason }) => ({ type, status, reason })))])

const sorted = (status: BrowserPoolStatus) => ({ ...status, conditions: byType(status.conditions ?? []) })

const byType = <T extends { readonly type: string }>(conditions: readonly T[]): readonly T[] =>
  conditions.toSorted((one, other) => Number(one.type > other.type) - Number(one.type < other.type))

/** The fields of a Kubernetes event that follow from a change of status. */
export type PoolOccurrence = Pick<Occurrence, 'type' | 'reason' | 'action' | 'note'>

type StatusCondition = { readonly status: string; readonly reason: string; readonly message: string }

const conditionIn = (status: BrowserPoolStatus | undefined, type: PoolConditionType): StatusCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

/** The events of a pool that follow from its status before and after a write. */
export const occurrencesOf = (before: BrowserPoolStatus | undefined, after: BrowserPoolStatus): PoolOccurrence[] => [
  ...troubleEvents(conditionIn(before, 'Degraded'), conditionIn(after, 'Degraded'), 'Degrade'),
  ...troubleEvents(quotaCondition(before), quotaCondition(after), 'Limit'),
  ...metricsEvents(conditionIn(before, 'MetricsAvailable'), conditionIn(after, 'MetricsAvailable')),
]

/** The condition `ScalingLimited`, True only for a quota: reaching the maximum is no trouble. */
const quotaCondition = (status: BrowserPoolStatus | undefined): StatusCondition | undefined => {
  const condition = conditionIn(status, 'ScalingLimited')
  return condition?.reason === 'QuotaExceeded' ? condition : condition && { ...condition, status: 'False' }
}

const troubleEvents = (
  before: StatusCondition | undefined,
  after: StatusCondition | undefined,
  action: string,
): PoolOccurrence[] => {
  if (after?.status === 'True' && (before?.status !== 'True' || before.reason !== after.reason)) {
    return [{ type: 'Warning', reason: after.reason, action, note: after.message }]
  }
  if (before?.status !== 'True' || after?.status !== 'False') return []
  return [
    { type: 'Normal', reason: 'Recovered', action: `Un${action.toLowerCase()}`, note: `No longer ${before.reason}.` },
  ]
}

const metricsEvents = (before: StatusCondition | undefined, after: StatusCondition | undefined): PoolOccurrence[] => {
  if (after?.status === 'False' && before?.status !== 'False') {
    return [{ type: 'Warning', reason: 'Frozen', action: 'Freeze', note: after.message }]
  }
  if (before?.status !== 'False' || after?.status !== 'True') return []
  return [{ type: 'Normal', reason: 'Thawed', action: 'Thaw', note: after.message }]
}
