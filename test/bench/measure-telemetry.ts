import { compareRounds } from './compare/interval.ts'
import { quantile } from './quantile.ts'
import { createClients, createRequest, type Served } from './served.ts'
import type { SmallPage } from './small-page.ts'

const accounts = 50
const connections = 32
const callers = 4
/** The interval of the chart's ServiceMonitors. */
const scrapeMs = 15_000

/** What a load reaches a second with telemetry and without, and the ratio of the two, with its interval. */
export type TelemetryCost = {
  readonly on: number
  readonly off: number
  readonly ratio: number
  readonly from: number
  readonly to: number
}

/** Share of intervals that do not contain the ratio. */
const error = 0.05

/** Scrapes addresses at once, and then as often as the chart does. */
const scrape = (urls: readonly string[]): Disposable => {
  const scrapeOne = async (url: string) => (await fetch(url)).arrayBuffer()
  const scrapeAll = () => void Promise.allSettled(urls.map(scrapeOne))
  scrapeAll()
  const timer = setInterval(scrapeAll, scrapeMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Runs both loads `rounds` times, in turn, each first in every second round. */
const compare = async (
  rounds: number,
  { on, off }: Readonly<Record<'on' | 'off', () => Promise<number>>>,
): Promise<TelemetryCost> => {
  await on()
  await off()
  const [withIt, without, ratios]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round += 1) {
    const first = round % 2 === 0 ? await on() : undefined
    const alone = await off()
    const traced = first ?? (await on())
    withIt.push(traced)
    without.push(alone)
    ratios.push(Math.log(traced / alone))
  }
  const { ratio, from, to } = compareRounds(ratios, error)
  return { on: quantile(withIt, 0.5), off: quantile(without, 0.5), ratio, from, to }
}

const acceptPerSecond = async ({ gateway, send }: Served, seconds: number) => {
  const clients = await createClients(gateway.database, accounts)
  const requests = clients.map(({ key }) => createRequest(key))
  return async () => (await send({ requests, connections, seconds })).perSecond
}

/** Two of something side by side, one without a scrape and without traces. */
type Pair<T> = { readonly plain: T; readonly traced: T }

/** How much is measured: rounds of each, and how long a load lasts. */
export type TelemetryWorkload = { readonly rounds: number; readonly seconds: number }

/** Captures accepted a second by one gateway. */
export const measureAcceptCost = async (
  { plain, traced }: Pair<Served>,
  { rounds, seconds }: TelemetryWorkload,
): Promise<TelemetryCost> => {
  using _scraper = scrape([`${traced.gateway.probeUrl}/metrics`])
  const on = await acceptPerSecond(traced, seconds)
  return await compare(rounds, { on, off: await acceptPerSecond(plain, seconds) })
}

const capturesPerSecond =
  ({ capture }: SmallPage, seconds: number) =>
  async () => {
    const began = performance.now()
    const caller = async () => {
      let captures = 0
      for (; performance.now() - began < seconds * 1000; captures += 1) await capture()
      return captures
    }
    const counts = await Promise.all(Array.from({ length: callers }, caller))
    return (counts.reduce((sum, each) => sum + each, 0) * 1000) / (performance.now() - began)
  }

/** Captures a second of a small page, by a whole system. */
export const measureCaptureCost = async (
  { plain, traced }: Pair<SmallPage>,
  { rounds, seconds }: TelemetryWorkload,
): Promise<TelemetryCost> => {
  const { services } = await traced.system.readLocal()
  using _scraper = scrape(services.flatMap(({ metrics_url: url }) => (url ? [url] : [])))
  return await compare(rounds, { on: capturesPerSecond(traced, seconds), off: capturesPerSecond(plain, seconds) })
}
