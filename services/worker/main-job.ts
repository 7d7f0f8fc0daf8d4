import { runMain } from '#shared/process/run-main.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { serveOne } from './loop.ts'

/** Bound on the start of the browser, and on the wait until it may pull; the worker then exits with an error, which the controller sees. */
const warmMs = 60_000

await runMain('worker', async (life) => {
  // A single-use worker: its browser serves one capture, so that it has nothing to share, and needs no spare one.
  const config = { ...readConfig(life.env), slots: 1, shareBrowsers: 'pool' } as const
  await using worker = await createContext(config, life)
  await serveOne(worker, life.stop, { spareMs: config.spareSeconds * 1000, warmMs })
})
