import { at, type Stored, type JsonObject } from './object.ts'
import { conditionsOf, hasEnded, holds, phaseOf } from './pods.ts'

/** Outcome of a Job. */
export type Verdict = { readonly type: 'Complete' | 'Failed'; readonly reason: string; readonly message: string }

/** A number of a Job's spec; undefined if it is missing. */
export const specNumber = (job: Stored, field: string): number | undefined =>
  at(job, 'spec', field) as number | undefined

/** Start of a Job in milliseconds since 1970. */
export const startedMs = (job: Stored): number => Date.parse(String(at(job, 'status', 'startTime')))

const exitCodeOf = (pod: Stored): number | undefined => {
  const [container] = (at(pod, 'status', 'containerStatuses') as JsonObject[] | undefined) ?? []
  return at(container, 'state', 'terminated', 'exitCode') as number | undefined
}

type Rule = {
  readonly action: string
  readonly onPodConditions?: readonly { readonly type: string }[]
  readonly onExitCodes?: { readonly operator: 'In' | 'NotIn'; readonly values: readonly number[] }
}

const isMatched = (pod: Stored, { onPodConditions, onExitCodes }: Rule): boolean => {
  if (onPodConditions?.some(({ type }) => holds(pod, type)) === true) return true
  const code = exitCodeOf(pod)
  if (!onExitCodes || code === undefined || code === 0) return false
  return onExitCodes.values.includes(code) === (onExitCodes.operator === 'In')
}

/** The outcome of a Job that has finished or is about to; undefined while it runs. */
export const verdictOf = (job: Stored, all: readonly Stored[], nowMs: number): Verdict | undefined => {
  const ended = all.filter(hasEnded)
  if (ended.some((pod) => phaseOf(pod) === 'Succeeded'))
    return { type: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
  const rules = (at(job, 'spec', 'podFailurePolicy', 'rules') as Rule[] | undefined) ?? []
  const failed = ended.filter((pod) => phaseOf(pod) === 'Failed')
  const matched = failed.find((pod) => rules.some((rule) => rule.action === 'FailJob' && isMatched(pod, rule)))
  if (matched)
    return { type: 'Failed', reason: 'PodFailurePolicy', message: `pod ${matched.metadata.name} matching FailJob rule` }
  if (failed.length > (specNumber(job, 'backoffLimit') ?? 6))
    return { type: 'Failed', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }
  const limit = specNumber(job, 'activeDeadlineSeconds')
  if (limit === undefined || nowMs < startedMs(job) + limit * 1000) return undefined
  return { type: 'Failed', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' }
}

/** The outcome in a Job's condition FailureTarget. */
export const promised = (job: Stored): Verdict => {
  const { reason = '', message = '' } = conditionsOf(job).find(({ type }) => type === 'FailureTarget') ?? {}
  return { type: 'Failed', reason, message }
}
