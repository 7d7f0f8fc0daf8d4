import { bareShot, startBareBrowser } from '#test/helpers/bare-browser.ts'
import { quantile } from './quantile.ts'
import type { SmallPage } from './small-page.ts'

type Spread = { p50: number; p95: number }

const spread = (values: readonly number[]): Spread => ({ p50: quantile(values, 0.5), p95: quantile(values, 0.95) })

const timed = async <T>(work: () => Promise<T>): Promise<{ tookMs: number; value: T }> => {
  const begun = performance.now()
  const value = await work()
  return { tookMs: performance.now() - begun, value }
}

/** Times a small page through the whole system and through a bare Playwright loop, in turn. */
export const measureCaptures = async (
  { system, url, capture }: SmallPage,
  { warmUps, rounds }: { readonly warmUps: number; readonly rounds: number },
): Promise<{ ours: Spread; bare: Spread; stages: Record<string, number> }> => {
  await using browser = await startBareBrowser()
  for (let count = 0; count < warmUps; count += 1) {
    await capture()
    await bareShot(browser, url)
  }
  const [ours, bare, ids]: [number[], number[], string[]] = [[], [], []]
  for (let round = 0; round < rounds; round += 1) {
    const shot = await timed(capture)
    ours.push(shot.tookMs)
    ids.push(shot.value)
    bare.push((await timed(() => bareShot(browser, url))).tookMs)
  }
  const timings = await Promise.all(ids.map(async (id) => (await system.record(id)).timings ?? {}))
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
