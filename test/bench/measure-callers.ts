import { resolve } from 'node:path'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem } from '#test/helpers/system.ts'

/** Long enough for the pool to follow before anything is counted. */
const settleMs = 10_000

/** Captures per second of a small page for so many callers at a time, each of whom waits for its image before the next. */
export const measureCallers = async (
  callers: readonly number[],
  countedMs: number,
): Promise<{ callers: number; perSecond: number }[]> => {
  await using site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
  await using system = await startSystem(['--allow-target', site.host])
  const path = `/v1/screenshots/capture?url=${encodeURIComponent(`http://${site.host}/index.html`)}`
  const callFor = async (forMs: number) => {
    const untilMs = performance.now() + forMs
    let captures = 0
    while (performance.now() < untilMs) {
      const response = await system.request(path)
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
      captures += 1
    }
    return captures
  }
  const all: { callers: number; perSecond: number }[] = []
  for (const count of callers) {
    await Promise.all(Array.from({ length: count }, () => callFor(settleMs)))
    const counts = await Promise.all(Array.from({ length: count }, () => callFor(countedMs)))
    all.push({ callers: count, perSecond: counts.reduce((sum, each) => sum + each, 0) / (countedMs / 1000) })
  }
  return all
}
