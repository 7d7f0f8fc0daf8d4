import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { listening } from '#test/helpers/egress-filter.ts'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem, type System } from '#test/helpers/system.ts'
import { quantile } from './quantile.ts'
import { createClients, createRequest, type Served, startServed } from './served.ts'

const accounts = 50
const connections = 32
const callers = 4
/** The interval of the chart's ServiceMonitors. */
const scrapeMs = 15_000

/** What a load reaches a second with telemetry and without, and the median of the ratios of rounds. */
export type TelemetryCost = { readonly on: number; readonly off: number; readonly ratio: number }

/** A receiver of traces that takes everything. */
const startSink = async () => {
  const sink = await listening(createServer((request, response) => request.resume().on('end', () => response.end())))
  return { ...sink, env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${sink.port}` } }
}

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
    ratios.push(traced / alone)
  }
  return { on: quantile(withIt, 0.5), off: quantile(without, 0.5), ratio: quantile(ratios, 0.5) }
}

const acceptPerSecond = async ({ gateway, send }: Served, seconds: number) => {
  const clients = await createClients(gateway.database, accounts)
  const requests = clients.map(({ key }) => createRequest(key))
  return async () => (await send({ requests, connections, seconds })).perSecond
}

/** Captures accepted a second by one gateway. */
export const measureAcceptCost = async (rounds: number, seconds: number): Promise<TelemetryCost> => {
  await using sink = await startSink()
  const settings = { WINDOW_CAPTURES: '10000' }
  await using plain = await startServed(settings)
  await using traced = await startServed({ ...settings, ...sink.env })
  using _scraper = scrape([`${traced.gateway.probeUrl}/metrics`])
  const on = await acceptPerSecond(traced, seconds)
  return await compare(rounds, { on, off: await acceptPerSecond(plain, seconds) })
}

const capturesPerSecond = (system: System, host: string, seconds: number) => async () => {
  const path = `/v1/screenshots/capture?url=${encodeURIComponent(`http://${host}/index.html`)}`
  const began = performance.now()
  const caller = async () => {
    let captures = 0
    while (performance.now() - began < seconds * 1000) {
      const response = await system.request(path)
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
      captures += 1
    }
    return captures
  }
  const counts = await Promise.all(Array.from({ length: callers }, caller))
  return (counts.reduce((sum, each) => sum + each, 0) * 1000) / (performance.now() - began)
}

/** Captures a second of a small page, by a whole system. */
export const measureCaptureCost = async (rounds: number, seconds: number): Promise<TelemetryCost> => {
  await using sink = await startSink()
  await using site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
  const args = ['--allow-target', site.host, '--workers-max', '2']
  await using plain = await startSystem(args)
  await using traced = await startSystem(args, { env: sink.env })
  const { services } = await traced.readLocal()
  using _scraper = scrape(services.flatMap(({ metrics_url: url }) => (url ? [url] : [])))
  return await compare(rounds, {
    on: capturesPerSecond(traced, site.host, seconds),
    off: capturesPerSecond(plain, site.host, seconds),
  })
}
