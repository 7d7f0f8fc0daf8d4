// A pool that Knative sizes: Knative Serving 1.23.0. Here are the reports of activator and pods, which pkg/autoscaler/metrics/collector.go
// and pkg/activator/handler/concurrency_reporter.go collect, and the ticks of pkg/autoscaler/scaling/multiscaler.go. A slot is a request
// that a container takes at a time.
import type { Sight } from '#cli/simulation/sight.ts'
import type { CreateLaw } from '#test/bench/autoscaler/law.ts'
import { type Desired, type KnativeSettings, knativeDefaults, Kpa, type Load, tickMs } from './knative-kpa.ts'
import { AverageWindow } from './knative-window.ts'
import { ScaleToZero } from './knative-zero.ts'
import { createSchedule, unfinished } from './schedule.ts'

const scrapeMs = 1000

/** The concurrency of the last seconds, as activator and pods report it. */
class Collector {
  readonly #isScrape = createSchedule(scrapeMs)
  readonly #stable: AverageWindow
  readonly #panic: AverageWindow
  #last: Sight | undefined
  #reported = 0

  constructor({ stableWindowMs, panicWindowShare }: KnativeSettings) {
    this.#stable = new AverageWindow(stableWindowMs)
    this.#panic = new AverageWindow(stableWindowMs * panicWindowShare)
  }

  /** Reports the mean since the last scrape; nothing without pods and captures, as nobody is there to report. */
  observe(sight: Sight): void {
    if (!this.#isScrape(sight.nowMs)) return
    const last = this.#last
    this.#last = sight
    if (!last) return
    const concurrency = (sight.knownMs - last.knownMs) / (sight.nowMs - last.nowMs)
    if (sight.ready > 0 || concurrency > 0) this.#record(sight.nowMs, Math.max(concurrency - this.#reported, 0))
    this.#reported = 0
  }

  /** Reports the first capture at once, which the next report deducts. */
  report(nowMs: number): void {
    this.#reported = 1
    this.#record(nowMs, 1)
  }

  /** Undefined without a report in the stable window. */
  load({ nowMs, ready }: Sight): Load | undefined {
    if (this.#stable.isEmpty(nowMs)) return undefined
    return { stable: this.#stable.average(nowMs), panic: this.#panic.average(nowMs), ready }
  }

  #record(nowMs: number, concurrency: number): void {
    this.#stable.record(nowMs, concurrency)
    this.#panic.record(nowMs, concurrency)
  }
}

/** A pool that Knative sizes. */
export const createKnative =
  (settings: KnativeSettings = knativeDefaults): CreateLaw =>
  ({ min, max, slots }) => {
    const decider = { ...settings, total: slots, target: Math.max(0.01, slots * settings.targetUtilization) }
    const isTick = createSchedule(tickMs)
    const collector = new Collector(settings)
    let kpa: Kpa | undefined
    let zero: ScaleToZero | undefined
    let desired: Desired | undefined
    return {
      kind: 'pods',
      everyMs: scrapeMs,
      wakesFromZero: true,
      size: (sight) => {
        const { nowMs, ready, starting } = sight
        if (!kpa) desired = ready + starting > 0 ? undefined : { size: 0, excess: -1 }
        kpa ??= new Kpa(decider, sight)
        zero ??= new ScaleToZero(settings, { min, max, size: Math.max(ready + starting, min) })
        const isPoke = desired?.size === 0 && unfinished(sight) > 0
        if (isPoke) collector.report(nowMs)
        collector.observe(sight)
        const load = isTick(nowMs) || isPoke ? collector.load(sight) : undefined
        if (load) desired = kpa.scale(nowMs, load)
        return zero.reconcile(nowMs, ready, desired)
      },
    }
  }
