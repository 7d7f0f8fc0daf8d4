// A KEDA ScaledObject with the scaler nats-jetstream: KEDA 2.21.0, pkg/scaling/executor/scale_scaledobjects.go and
// pkg/scalers/nats_jetstream_scaler.go. Its operator sizes between zero and one; from one on, a HorizontalPodAutoscaler does, which
// reads the metric through KEDA at each evaluation.
import type { CreateLaw } from '#test/bench/autoscaler/law.ts'
import { Hpa, hpaDefaults, type HpaSettings, type Source } from './hpa.ts'
import { commonStepMs, createSchedule, scraped, unfinished } from './schedule.ts'

/** Fields of a ScaledObject. */
export type KedaSettings = {
  readonly pollMs: number
  readonly cooldownMs: number
  /** `activationLagThreshold`: a trigger is active above it. */
  readonly activation: number
  /**
   * What the trigger counts: of JetStream what is pending and what waits for its ack. `target` is `lagThreshold`, which KEDA sets to 10
   * by default; here it is the slots of a pod, as a capture occupies one for seconds.
   */
  readonly source: Source
  readonly hpa: HpaSettings
}

/** apis/keda/v1alpha1/withtriggers_types.go, pkg/scaling/executor/scale_executor.go. */
export const kedaDefaults: KedaSettings = {
  pollMs: 30_000,
  cooldownMs: 300_000,
  activation: 0,
  source: { metric: unfinished, scrapeMs: 0 },
  hpa: hpaDefaults,
}

/**
 * Settings that react fast: frequent polls, growth without a limit, and short windows before pods go. `syncMs` is a flag of
 * kube-controller-manager, which is often not the user's to set.
 */
export const kedaBest = ({
  pollMs = 2000,
  cooldownMs = 60_000,
  downWindowMs = 60_000,
  syncMs = hpaDefaults.syncMs,
} = {}): KedaSettings => ({
  ...kedaDefaults,
  pollMs,
  cooldownMs,
  hpa: {
    ...hpaDefaults,
    syncMs,
    offsetMs: syncMs / 2,
    behavior: {
      scaleUp: { windowMs: 0, select: 'Max', policies: [{ type: 'Pods', value: 1_000_000, periodMs: 15_000 }] },
      scaleDown: {
        windowMs: downWindowMs,
        select: 'Max',
        policies: [{ type: 'Percent', value: 100, periodMs: 15_000 }],
      },
    },
  },
})

/** What the operator reads at a poll; `sinceActiveMs` is Infinity before a trigger was active. */
type Poll = {
  readonly current: number
  readonly min: number
  readonly idle?: number
  readonly isActive: boolean
  readonly sinceActiveMs: number
  readonly cooldownMs: number
}

/** RequestScale, scaleFromZeroOrIdle and scaleToZeroOrIdle: the size that a poll requests. */
export const requestScale = ({ current, min, idle, isActive, sinceActiveMs, cooldownMs }: Poll): number => {
  if (isActive) {
    const isIdle = current === 0 || (idle !== undefined && current < min)
    return isIdle ? Math.max(min, 1) : current
  }
  if ((idle !== undefined && current > idle) || (current > 0 && min === 0)) {
    return sinceActiveMs > cooldownMs ? (idle ?? 0) : current
  }
  return idle === undefined ? Math.max(current, min) : current
}

/** A pool that a ScaledObject sizes. */
export const createKeda =
  ({ pollMs, cooldownMs, activation, source, hpa: hpaSettings }: KedaSettings): CreateLaw =>
  ({ min, max, slots }) => {
    const hpa = new Hpa(hpaSettings)
    const isPoll = createSchedule(pollMs)
    const isSync = createSchedule(hpaSettings.syncMs, hpaSettings.offsetMs)
    const metric = scraped(source.metric, source.scrapeMs)
    // GetHPAMinReplicas
    const hpaBounds = { min: Math.max(min, 1), max }
    let activeMs = -Infinity
    let size: number | undefined
    return {
      kind: 'pods',
      everyMs: commonStepMs(pollMs, hpaSettings.syncMs, hpaSettings.offsetMs, source.scrapeMs),
      wakesFromZero: false,
      size: (sight) => {
        const { nowMs } = sight
        const usage = metric(sight)
        const pods = sight.ready + sight.starting
        size ??= Math.max(pods, min)
        if (isPoll(nowMs)) {
          const isActive = usage > activation
          if (isActive) activeMs = nowMs
          size = requestScale({ current: size, min, isActive, sinceActiveMs: nowMs - activeMs, cooldownMs })
        }
        if (isSync(nowMs))
          size = hpa.evaluate({ ...hpaBounds, nowMs, current: size, pods, usage, target: source.target ?? slots })
        return size
      },
    }
  }
