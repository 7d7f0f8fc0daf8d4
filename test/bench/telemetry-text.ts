import { createServer } from 'node:http'
import { listening } from '#test/helpers/egress-filter.ts'
import {
  measureAcceptCost,
  measureCaptureCost,
  type TelemetryCost,
  type TelemetryWorkload,
} from './measure-telemetry.ts'
import { table } from '#tools/docs/markdown-table.ts'
import { startServed } from './served.ts'
import { startSmallPage } from './small-page.ts'

/** A receiver of traces that takes everything. */
const startSink = async () => {
  const sink = await listening(createServer((request, response) => request.resume().on('end', () => response.end())))
  return { ...sink, env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${sink.port}` } }
}

const acceptCost = async (workload: TelemetryWorkload) => {
  await using sink = await startSink()
  const settings = { WINDOW_CAPTURES: '10000' }
  await using plain = await startServed(settings)
  await using traced = await startServed({ ...settings, ...sink.env })
  return await measureAcceptCost({ plain, traced }, workload)
}

const captureCost = async (workload: TelemetryWorkload) => {
  await using sink = await startSink()
  const args = ['--workers-max', '2']
  await using plain = await startSmallPage(args)
  await using traced = await startSmallPage(args, sink.env)
  return await measureCaptureCost({ plain, traced }, workload)
}

const lost = (ratio: number) => `${((1 - ratio) * 100).toFixed(1)} %`

const row = (name: string, bound: string, { on, off, ratio, from, to }: TelemetryCost) => [
  name,
  off.toFixed(1),
  on.toFixed(1),
  lost(ratio),
  `${lost(to)} to ${lost(from)}`,
  bound,
]

/** What metrics and traces cost. */
export const telemetryText = async (workload: TelemetryWorkload): Promise<string> => {
  const { rounds, seconds } = workload
  const accept = await acceptCost(workload)
  const captures = await captureCost(workload)
  return `Two of everything side by side, loaded in turn for ${seconds} s,
${rounds} rounds: one without a scrape and without traces, one whose services are scraped every 15 s and send traces at the default
sampling to a receiver on the same machine. The cost is the mean of the rounds that nothing else disturbed, with its 95 % interval.

${table(
  ['', 'per second without', 'with', 'cost', 'interval', 'bound'],
  [row('captures accepted', '3 %', accept), row('captures completed', '2 %', captures)],
)}`
}
