// The HorizontalPodAutoscaler with one external metric and an AverageValue: Kubernetes 1.36.4, pkg/controller/podautoscaler,
// without the feature gate HPAScaleToZero, which is off by default.
import type { CreateLaw } from '#test/bench/autoscaler/law.ts'
import {
  type Behavior,
  limitRate,
  type Recommendation,
  type ScaleEvent,
  type Situation,
  stabilize,
  store,
  storeEvent,
} from './hpa-behavior.ts'
import { commonStepMs, createSchedule, type Metric, scraped, unfinished } from './schedule.ts'

/** Shares by which the metric may be below or above its target without a change of size. */
export type Tolerances = { readonly down: number; readonly up: number }

/** Settings of the autoscaler and of kube-controller-manager. */
export type HpaSettings = {
  /** Milliseconds between two evaluations, `--horizontal-pod-autoscaler-sync-period`. */
  readonly syncMs: number
  /** Milliseconds from the start to the first evaluation. Loops are independent: the mean is half of `syncMs`. */
  readonly offsetMs: number
  readonly tolerances: Tolerances
  /** `--horizontal-pod-autoscaler-downscale-stabilization`, of an autoscaler without `behavior`. */
  readonly downWindowMs: number
  readonly behavior?: Behavior
}

/** pkg/controller/podautoscaler/config/v1alpha1/defaults.go. */
export const hpaDefaults: HpaSettings = {
  syncMs: 15_000,
  offsetMs: 7500,
  tolerances: { down: 0.1, up: 0.1 },
  downWindowMs: 300_000,
}

/**
 * replica_calculator.go, GetExternalPerPodMetricReplicas. `pods` are those of the scale's status, ready or not; a Deployment does not
 * count terminating ones.
 */
export const externalReplicas = (usage: number, target: number, pods: number, tolerances: Tolerances): number => {
  const ratio = usage / (target * pods)
  const isWithin = 1 - tolerances.down <= ratio && ratio <= 1 + tolerances.up
  return isWithin ? pods : Math.ceil(usage / target)
}

/** stabilizeRecommendation, of an autoscaler without `behavior`. */
export const stabilizeDown = (
  desired: number,
  recommendations: readonly Recommendation[],
  { nowMs, windowMs }: { readonly nowMs: number; readonly windowMs: number },
): number => Math.max(desired, ...recommendations.flatMap(({ atMs, size }) => (atMs < nowMs - windowMs ? [] : size)))

/** convertDesiredReplicasWithRules, of an autoscaler without `behavior`: at most twice the pods, or four. */
export const limitDoubling = (desired: number, { current, min, max }: Omit<Situation, 'nowMs'>): number =>
  Math.max(min, Math.min(desired, max, Math.max(2 * current, 4)))

/** What an evaluation reads: `current` is the size that was last requested, `pods` are those that exist. */
type Reading = Situation & { readonly pods: number; readonly usage: number; readonly target: number }

/** An autoscaler with its memory: horizontal.go, reconcileAutoscaler. */
export class Hpa {
  readonly #settings: HpaSettings
  #recommendations: readonly Recommendation[] = []
  #up: readonly ScaleEvent[] = []
  #down: readonly ScaleEvent[] = []

  constructor(settings: HpaSettings) {
    this.#settings = settings
  }

  /** The size to request. Zero pods disable the autoscaler. */
  evaluate(reading: Reading): number {
    const { nowMs, current, min, max } = reading
    if (this.#recommendations.length === 0) this.#recommendations = [{ atMs: nowMs, size: current }]
    if (current === 0) return 0
    const isInside = min <= current && current <= max
    const desired = isInside ? this.#normalized(reading) : Math.min(Math.max(current, min), max)
    if (desired !== current) this.#storeEvent(reading, desired)
    return desired
  }

  #normalized(reading: Reading): number {
    const { nowMs, usage, target, pods } = reading
    const { behavior, tolerances, downWindowMs } = this.#settings
    const desired = externalReplicas(usage, target, pods, tolerances)
    const recommendations = this.#recommendations
    this.#recommend(nowMs, desired)
    if (!behavior) {
      return limitDoubling(stabilizeDown(desired, recommendations, { nowMs, windowMs: downWindowMs }), reading)
    }
    const stabilized = stabilize(desired, reading, recommendations, behavior)
    return limitRate(stabilized, reading, { up: this.#up, down: this.#down }, behavior)
  }

  #recommend(nowMs: number, size: number): void {
    const { behavior, downWindowMs } = this.#settings
    const windowMs = behavior ? Math.max(behavior.scaleUp.windowMs, behavior.scaleDown.windowMs) : downWindowMs
    this.#recommendations = store(this.#recommendations, ({ atMs }) => atMs < nowMs - windowMs, { atMs: nowMs, size })
  }

  #storeEvent({ nowMs, current }: Situation, desired: number): void {
    const { behavior } = this.#settings
    if (!behavior) return
    const event = { atMs: nowMs, change: Math.abs(desired - current) }
    if (desired > current) this.#up = storeEvent(this.#up, behavior.scaleUp, event)
    else this.#down = storeEvent(this.#down, behavior.scaleDown, event)
  }
}

/** What an autoscaler scales on; `target` is captures for each pod, by default its slots. */
export type Source = { readonly metric: Metric; readonly scrapeMs: number; readonly target?: number }

/** A pool that a HorizontalPodAutoscaler sizes. It never has less than one pod. */
export const createHpa =
  (settings: HpaSettings = hpaDefaults, source: Source = { metric: unfinished, scrapeMs: 0 }): CreateLaw =>
  ({ min, max, slots }) => {
    const hpa = new Hpa(settings)
    const isDue = createSchedule(settings.syncMs, settings.offsetMs)
    const metric = scraped(source.metric, source.scrapeMs)
    const bounds = { min: Math.max(min, 1), max }
    let size: number | undefined
    return {
      kind: 'pods',
      everyMs: commonStepMs(settings.syncMs, settings.offsetMs, source.scrapeMs),
      wakesFromZero: false,
      size: (sight) => {
        const usage = metric(sight)
        const pods = sight.ready + sight.starting
        size ??= Math.max(pods, bounds.min)
        if (!isDue(sight.nowMs)) return size
        const reading = { ...bounds, nowMs: sight.nowMs, current: size, pods, usage, target: source.target ?? slots }
        size = hpa.evaluate(reading)
        return size
      },
    }
  }
