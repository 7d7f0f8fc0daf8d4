import type { Backlog, Trouble } from '#controller/decide/pool.ts'
import type { BrowserPool, BrowserPoolStatus, PoolCondition, PoolConditionType } from '#shared/kube/browser-pool.ts'
import { poolSelector, labelSelector } from '#shared/kube/names.ts'

/** A condition of this type, without its times. */
export type Condition<T extends PoolConditionType> = Pick<
  Extract<PoolCondition, { type: T }>,
  'status' | 'reason' | 'message'
>

/** Builds a condition. */
export const condition = <T extends PoolConditionType>(
  status: Condition<T>['status'],
  reason: Condition<T>['reason'],
  message: string,
): Condition<T> => ({ status, reason, message })

/** Message of a pool whose queue an operator has paused. */
export const queuePaused = 'An operator has paused the queue: captures wait, and nothing is started for them.'

/** Predicates for a sentence about workers, by trouble. */
export const troubleWords: Readonly<Record<Trouble, string>> = {
  unschedulable: 'cannot be placed on any node',
  'image-pull': 'cannot get their image',
  'crash-looping': 'end soon after they start',
  'config-error': 'cannot be set up by their node',
  'not-starting': 'are not started by their node',
  quota: 'are refused by a quota',
  'pods-refused': 'are refused by the API server',
}

/** Reasons of the condition `Degraded`, the most urgent first. A quota is no fault: `ScalingLimited` reports it. */
const degradedReasons = {
  'config-error': 'ConfigError',
  'image-pull': 'ImagePull',
  'not-starting': 'NotStarting',
  'crash-looping': 'CrashLooping',
  unschedulable: 'Unschedulable',
  'pods-refused': 'PodsRefused',
} as const satisfies Partial<Record<Trouble, Condition<'Degraded'>['reason']>>

/** How messages call what a pool runs, and say what is wrong with it. */
type Subject = { readonly noun: 'workers' | 'Jobs'; readonly words: typeof troubleWords }

/** Whether an operator has to intervene; `troubles` are Kubernetes' messages. */
export const degradedBy = (troubles: ReadonlyMap<Trouble, string>, { noun, words }: Subject): Condition<'Degraded'> => {
  const trouble = (Object.keys(degradedReasons) as (keyof typeof degradedReasons)[]).find((each) => troubles.has(each))
  if (!trouble) return condition('False', 'AsExpected', `Nothing keeps ${noun} from starting.`)
  return condition('True', degradedReasons[trouble], withCause(`${noun} ${words[trouble]}`, troubles.get(trouble)))
}

/** Whether more is needed than a quota or the maximum allow; `atMaximum` is the message if the maximum is reached. */
export const limitedBy = (
  troubles: ReadonlyMap<Trouble, string>,
  { noun, words }: Subject,
  atMaximum: string | false,
): Condition<'ScalingLimited'> => {
  const quota = troubles.get('quota')
  if (quota !== undefined) return condition('True', 'QuotaExceeded', withCause(`${noun} ${words.quota}`, quota))
  if (atMaximum !== false) return condition('True', 'AtMaximum', atMaximum)
  return condition('False', 'WithinBounds', `There may be as many ${noun} as are needed.`)
}

/** A sentence, followed by Kubernetes' message if there is one. */
export const withCause = (text: string, cause = ''): string =>
  cause === '' ? sentence(text) : `${sentence(text)} Kubernetes says: ${cause}`

/** Capitalizes a text and ends it with a full stop. */
export const sentence = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`

/** Adds type, generation and transition time to a condition; the time changes only with the status. */
export const withTransitionTime = <T extends PoolConditionType>(
  { pool, at }: StatusBase,
  type: T,
  found: Condition<T>,
): PoolCondition => {
  const before = pool.status?.conditions?.find((each) => each.type === type)
  const isUnchanged = before !== undefined && before.status === found.status
  const lastTransitionTime = isUnchanged ? before.lastTransitionTime : at.toISOString().replace(/\.\d+Z$/, 'Z')
  // The reason belongs to the type, which the compiler cannot follow through the union.
  return { type, ...found, lastTransitionTime, observedGeneration: pool.metadata.generation } as PoolCondition
}

/** Input of the status of any pool: the pool with the status written last, and the time. */
export type StatusBase = { readonly pool: BrowserPool; readonly instance: string; readonly at: Date }

/** Composes a pool's status. */
export type ComposeStatus = (base: StatusBase) => BrowserPoolStatus

/** Input of the status of a pool that is reconciled. */
export type StatusCommon = StatusBase & {
  readonly observation: { readonly backlog: Backlog | 'unknown' }
  readonly decision: { readonly desired: number; readonly reason: NonNullable<BrowserPoolStatus['reason']> }
}

type Replicas = Pick<BrowserPoolStatus, 'replicas' | 'readyReplicas' | 'busySlots'>

/** Status of a pool with its conditions in their order; `replicas` is false if they are unknown. */
export const composeStatus = (
  common: StatusCommon,
  replicas: Replicas | false,
  conditions: { readonly [T in PoolConditionType]: Condition<T> },
): BrowserPoolStatus => {
  const { pool, instance, observation, decision } = common
  const stampedOf = <T extends PoolConditionType>([type, found]: readonly [T, Condition<T>]) =>
    withTransitionTime(common, type, found)
  return {
    observedGeneration: pool.metadata.generation,
    ...replicas,
    desiredReplicas: decision.desired,
    ...(observation.backlog !== 'unknown' && {
      queue: observation.backlog.pending,
      oldestWaitSeconds: Math.floor(observation.backlog.oldestMs / 1000),
    }),
    reason: decision.reason,
    selector: labelSelector(poolSelector(instance, pool.metadata.name)),
    conditions: (Object.entries(conditions) as [PoolConditionType, never][]).map(stampedOf),
  }
}
