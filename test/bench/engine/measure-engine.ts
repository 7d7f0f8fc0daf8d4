import { quantile } from '#test/bench/quantile.ts'
import { startBareLoop } from './bare-loop.ts'
import { type Contender, joinRuns, type Run, type Shot, takeMany } from './contender.ts'
import { inlineHtml } from './pages.ts'
import type { Site } from './serve-site.ts'
import type { WarmSite, WarmSystem } from './warm-system.ts'

/** How much is measured: after warm-ups, rounds of `captures` two at a time, then `pairs` one at a time. */
export type EngineWorkload = {
  readonly warmUps: number
  readonly rounds: number
  readonly captures: number
  readonly pairs: number
}

/** One fixture in one format, by the service and by the bare loop. */
export type Compared = {
  readonly fixture: string
  readonly format: Shot['format']
  readonly ours: Side
  readonly bare: Side
  /** Milliseconds in the worker from the order to the encoded picture, one at a time. */
  readonly workerMs: number
}

/** What one of both took. */
export type Side = { readonly run: Run; readonly p50Ms: number }

const fixturesOf = ({ httpHost, httpsHost }: Site): Readonly<Record<string, Omit<Shot, 'format'>>> => ({
  '15 requests, http': { url: `http://${httpHost}/15` },
  '15 requests, https, HTTP/2': { url: `https://${httpsHost}/15` },
  '63 requests, http': { url: `http://${httpHost}/63` },
  '8,000 px, full page': { url: `http://${httpHost}/tall-8000`, full_page: true },
  'inline HTML': { html: inlineHtml },
})

const atOnce = 2
/** Each is measured on every fixture; the other formats on the first. */
const everywhere: readonly Shot['format'][] = ['jpeg', 'png']
const elsewhere: readonly Shot['format'][] = ['webp', 'avif', 'tiff']

const timed = async (contender: Contender, shot: Shot): Promise<{ tookMs: number; id: string | undefined }> => {
  const began = performance.now()
  const { id } = await contender.take(shot)
  return { tookMs: performance.now() - began, id }
}

/** Captures one at a time, in turn; with the worker's share of ours. */
const takePairs = async (service: WarmSystem, loop: Contender, shot: Shot, pairs: number) => {
  const [ours, bare]: [number[], number[]] = [[], []]
  const ids: string[] = []
  for (let pair = 0; pair < pairs; pair += 1) {
    const { tookMs, id = '' } = await timed(service, shot)
    ours.push(tookMs)
    ids.push(id)
    bare.push((await timed(loop, shot)).tookMs)
  }
  const records = await Promise.all(ids.map((id) => service.system.record(id)))
  const worker = records.map(({ timings = {} }) => (timings['total'] ?? 0) - (timings['store'] ?? 0))
  return { oursMs: quantile(ours, 0.5), bareMs: quantile(bare, 0.5), workerMs: quantile(worker, 0.5) }
}

const compare = async (service: WarmSystem, loop: Contender, shot: Shot, workload: EngineWorkload) => {
  const { warmUps, rounds, captures, pairs } = workload
  for (const contender of [service, loop]) await takeMany(contender, shot, warmUps, atOnce)
  const [ours, bare]: [Run[], Run[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    // Whoever comes second finds the machine as the other left it: each does so as often.
    const turns = [
      async () => void ours.push(await takeMany(service, shot, captures, atOnce)),
      async () => void bare.push(await takeMany(loop, shot, captures, atOnce)),
    ]
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn()
  }
  const { oursMs, bareMs, workerMs } = await takePairs(service, loop, shot, pairs)
  return { ours: { run: joinRuns(ours), p50Ms: oursMs }, bare: { run: joinRuns(bare), p50Ms: bareMs }, workerMs }
}

/** Takes every fixture whose name has `only` in it with the whole service and with a bare Playwright loop, in interleaved rounds. */
export const measureEngine = async (
  { site, service }: WarmSite,
  workload: EngineWorkload,
  only: string,
): Promise<readonly Compared[]> => {
  await using loop = await startBareLoop()
  const compared: Compared[] = []
  for (const [index, [fixture, source]] of Object.entries(fixturesOf(site)).entries()) {
    if (!fixture.includes(only)) continue
    for (const format of index === 0 ? [...everywhere, ...elsewhere] : everywhere) {
      compared.push({ fixture, format, ...(await compare(service, loop, { ...source, format }, workload)) })
    }
  }
  return compared
}
