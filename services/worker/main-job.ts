import { runMain } from '#shared/process/run-main.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { serveOne } from './loop.ts'

/** A browser that has not started by then will not: whoever started this worker sees it fail. */
const warmMs = 60_000

// A worker for a single capture, whose browser nobody had before and nobody has after it.
await runMain('worker', async (life) => {
  const config = { ...readConfig(life.env), slots: 1 }
  await using worker = await createContext(config, life)
  await serveOne(worker, life.stop, { spareMs: config.spareSeconds * 1000, warmMs })
})
