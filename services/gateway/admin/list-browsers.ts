import type { HeartbeatMessage } from '#shared/queue/messages.ts'
import { browserAgeAdvice, browserAgeDays } from '#shared/policy/browser-age.ts'

/** Most kinds, versions and build times that are listed. */
const browsersMax = 1000

/** The installed browsers of workers by kind, version and build time, the oldest first, those of unknown age last. */
export const listBrowsers = (
  workers: readonly Pick<HeartbeatMessage, 'browsers'>[],
  { nowMs, daysMax }: { readonly nowMs: number; readonly daysMax: number },
) => {
  const installed = workers.flatMap(({ browsers = [] }) => browsers)
  const same = Map.groupBy(installed, ({ browser, version, builtAtMs }) => `${browser} ${version} ${builtAtMs}`)
  return [...same.values()]
    .flatMap(([first, ...others]) => (first ? [{ ...first, workers: others.length + 1 }] : []))
    .toSorted((one, other) => (one.builtAtMs ?? nowMs) - (other.builtAtMs ?? nowMs))
    .slice(0, browsersMax)
    .map(({ browser, version, builtAtMs, workers: count }) => {
      const days = builtAtMs === undefined ? null : browserAgeDays(builtAtMs, nowMs)
      return {
        browser,
        version,
        built_at: builtAtMs === undefined ? null : new Date(builtAtMs).toISOString(),
        age_days: days,
        advice: days === null ? null : (browserAgeAdvice(days, daysMax) ?? null),
        workers: count,
      }
    })
}
