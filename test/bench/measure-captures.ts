import { resolve } from 'node:path'
import { bareShot, startBareBrowser } from '#test/helpers/bare-browser.ts'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem } from '#test/helpers/system.ts'
import { quantile } from './quantile.ts'

type Spread = { p50: number; p95: number }

const warmUps = 5
const spread = (values: readonly number[]): Spread => ({ p50: quantile(values, 0.5), p95: quantile(values, 0.95) })

const timed = async <T>(work: () => Promise<T>): Promise<{ tookMs: number; value: T }> => {
  const begun = performance.now()
  const value = await work()
  return { tookMs: performance.now() - begun, value }
}

/** Times a small page through the whole system and through a bare Playwright loop, in turn. */
export const measureCaptures = async (
  rounds: number,
): Promise<{ ours: Spread; bare: Spread; stages: Record<string, number> }> => {
  await using site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
  await using system = await startSystem(['--allow-target', site.host])
  const browser = await startBareBrowser()
  const url = `http://${site.host}/index.html`
  const shoot = async () => {
    const response = await system.request(`/v1/screenshots/capture?url=${encodeURIComponent(url)}`)
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
    await response.arrayBuffer()
    return response.headers.get('x-screenshot-id') ?? ''
  }
  for (let count = 0; count < warmUps; count += 1) {
    await shoot()
    await bareShot(browser, url)
  }
  const [ours, bare, ids]: [number[], number[], string[]] = [[], [], []]
  for (let round = 0; round < rounds; round += 1) {
    const shot = await timed(shoot)
    ours.push(shot.tookMs)
    ids.push(shot.value)
    bare.push((await timed(() => bareShot(browser, url))).tookMs)
  }
  const timings = await Promise.all(ids.map(async (id) => (await system.record(id)).timings ?? {}))
  await browser.close()
  const stages = Object.keys(timings[0] ?? {})
  const median = (stage: string) =>
    quantile(
      timings.map((each) => each[stage] ?? 0),
      0.5,
    )
  return {
    ours: spread(ours),
    bare: spread(bare),
    stages: Object.fromEntries(stages.map((stage) => [stage, median(stage)])),
  }
}
