// `behavior` of a HorizontalPodAutoscaler: Kubernetes 1.36.4, pkg/controller/podautoscaler/horizontal.go.
// Its integer conversions truncate, here Math.trunc; its windows exclude what is exactly as old as they are long.

/** At most so many pods, or so many percent of the pods at the beginning, in a period. */
type Policy = { readonly type: 'Pods' | 'Percent'; readonly value: number; readonly periodMs: number }

/** Rules of one direction. `Max` selects the policy that allows the largest change. */
export type ScalingRules = {
  readonly windowMs: number
  readonly select: 'Max' | 'Min' | 'Disabled'
  readonly policies: readonly Policy[]
}
/** Rules of both directions. */
export type Behavior = { readonly scaleUp: ScalingRules; readonly scaleDown: ScalingRules }

/** A size that the metric asked for. */
export type Recommendation = { readonly atMs: number; readonly size: number }
/** A change of size by so many pods, in either direction without sign. */
export type ScaleEvent = { readonly atMs: number; readonly change: number }
/** Past changes of size. */
export type ScaleEvents = { readonly up: readonly ScaleEvent[]; readonly down: readonly ScaleEvent[] }

/** pkg/apis/autoscaling/v2/defaults.go: what each rule that a behavior leaves out is. */
export const defaultBehavior: Behavior = {
  scaleUp: {
    windowMs: 0,
    select: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodMs: 15_000 },
      { type: 'Percent', value: 100, periodMs: 15_000 },
    ],
  },
  scaleDown: { windowMs: 300_000, select: 'Max', policies: [{ type: 'Percent', value: 100, periodMs: 15_000 }] },
}

/** storeScaleEvent, stabilizeRecommendation: a log in which the entry replaces the last outdated one, if there is one. */
export const store = <T>(log: readonly T[], isOutdated: (entry: T) => boolean, entry: T): readonly T[] => {
  const index = log.findLastIndex(isOutdated)
  return index === -1 ? [...log, entry] : log.with(index, entry)
}

/** storeScaleEvent: outdated are events before the longest period of a policy. */
export const storeEvent = (
  events: readonly ScaleEvent[],
  { policies }: ScalingRules,
  event: ScaleEvent,
): readonly ScaleEvent[] => {
  const longestMs = Math.max(...policies.map(({ periodMs }) => periodMs))
  return store(events, ({ atMs }) => atMs < event.atMs - longestMs, event)
}

/** getReplicasChangePerPeriod. */
export const changeWithin = (periodMs: number, events: readonly ScaleEvent[], nowMs: number): number =>
  events.reduce((sum, { atMs, change }) => sum + (atMs > nowMs - periodMs ? change : 0), 0)

/** The pods that each policy allows, from the pods at the beginning of its period. */
const limits = (
  current: number,
  { up, down }: ScaleEvents,
  { policies }: ScalingRules,
  { nowMs, sign }: { readonly nowMs: number; readonly sign: 1 | -1 },
) =>
  policies.map(({ type, value, periodMs }) => {
    const atStart = current - changeWithin(periodMs, up, nowMs) + changeWithin(periodMs, down, nowMs)
    if (type === 'Pods') return atStart + sign * value
    const scaled = atStart * (1 + (sign * value) / 100)
    return sign === 1 ? Math.ceil(scaled) : Math.trunc(scaled)
  })

/** calculateScaleUpLimitWithScalingRules. */
export const scaleUpLimit = (current: number, events: ScaleEvents, rules: ScalingRules, nowMs: number): number => {
  if (rules.select === 'Disabled') return current
  const allowed = limits(current, events, rules, { nowMs, sign: 1 })
  return rules.select === 'Min' ? Math.min(...allowed) : Math.max(...allowed)
}

/** calculateScaleDownLimitWithBehaviors. */
export const scaleDownLimit = (current: number, events: ScaleEvents, rules: ScalingRules, nowMs: number): number => {
  if (rules.select === 'Disabled') return current
  const allowed = limits(current, events, rules, { nowMs, sign: -1 })
  return rules.select === 'Min' ? Math.max(...allowed) : Math.min(...allowed)
}

/** What bounds a size: the pool's bounds, its size now, and what it was. */
export type Situation = {
  readonly nowMs: number
  readonly current: number
  readonly min: number
  readonly max: number
}

/** convertDesiredReplicasWithBehaviorRate. */
export const limitRate = (
  desired: number,
  { nowMs, current, min, max }: Situation,
  events: ScaleEvents,
  { scaleUp, scaleDown }: Behavior,
): number => {
  if (desired > current) {
    const limit = Math.max(current, scaleUpLimit(current, events, scaleUp, nowMs))
    return Math.min(desired, max, limit)
  }
  if (desired < current) {
    const limit = Math.min(current, scaleDownLimit(current, events, scaleDown, nowMs))
    return Math.max(desired, min, limit)
  }
  return desired
}

/** stabilizeRecommendationWithBehaviors: the size now, moved as little as the recommendations of the two windows require. */
export const stabilize = (
  desired: number,
  { nowMs, current }: Pick<Situation, 'nowMs' | 'current'>,
  recommendations: readonly Recommendation[],
  { scaleUp, scaleDown }: { readonly [direction in keyof Behavior]: Pick<ScalingRules, 'windowMs'> },
): number => {
  const within = (windowMs: number) =>
    recommendations.flatMap(({ atMs, size }) => (atMs > nowMs - windowMs ? size : []))
  const least = Math.min(desired, ...within(scaleUp.windowMs))
  const most = Math.max(desired, ...within(scaleDown.windowMs))
  return Math.min(Math.max(current, least), most)
}
