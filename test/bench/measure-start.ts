import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSystem } from '#test/helpers/system.ts'
import { quantile } from './quantile.ts'

/** Milliseconds of `starts` starts from the command to the first capture done, on a data folder that exists. */
export const measureStart = async (starts: number): Promise<{ runs: number[]; median: number }> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'shutterfleet-bench-'))
  const startOnce = async () => {
    const begun = performance.now()
    const system = await startSystem([], { dataDir })
    const { status } = await system.post('/v1/screenshots/capture', { html: '<h1>Start</h1>' })
    if (status !== 200) throw new Error(`the first capture responded ${status}`)
    const tookMs = performance.now() - begun
    await system.stop()
    return tookMs
  }
  await startOnce()
  const runs: number[] = []
  for (let count = 0; count < starts; count += 1) runs.push(await startOnce())
  await rm(dataDir, { recursive: true, force: true })
  return { runs, median: quantile(runs, 0.5) }
}
