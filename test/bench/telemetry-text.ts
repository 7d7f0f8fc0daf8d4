import { measureAcceptCost, measureCaptureCost, type TelemetryCost } from './measure-telemetry.ts'
import { table } from './page.ts'

const row = (name: string, bound: string, { on, off, ratio }: TelemetryCost) => [
  name,
  off.toFixed(1),
  on.toFixed(1),
  `${((1 - ratio) * 100).toFixed(1)} %`,
  bound,
]

/** What metrics and traces cost. */
export const telemetryText = async (rounds: number, seconds: number): Promise<string> => {
  const accept = await measureAcceptCost(rounds, seconds)
  const captures = await measureCaptureCost(rounds, seconds)
  return `Two of everything side by side, loaded in turn for ${seconds} s,
${rounds} rounds: one without a scrape and without traces, one whose services are scraped every 15 s and send traces at the default
sampling to a receiver on the same machine. The cost is that of the median round.

${table(
  ['', 'per second without', 'with', 'cost', 'bound'],
  [row('captures accepted', '3 %', accept), row('captures completed', '2 %', captures)],
)}`
}
