import { runMain } from '#shared/process/run-main.ts'
import { LanePuller } from './lane-puller.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { openHostEnvironment } from './host-environment.ts'
import { openWorker } from './open-worker.ts'
import { serveOne } from './serve-one.ts'

/** A browser that has not come up by then will not: whoever started this worker sees it fail. */
const warmMs = 60_000

// A worker for a single capture, whose browser nobody had before and nobody has after it.
await runMain('worker', async (life) => {
  const config = { ...readConfig(life.env), slots: 1 }
  const context = await createContext(config)
  using puller = new LanePuller(context.queue, config.pool)
  // Ends before the puller does: until the connection is flushed, what still arrives is handed back.
  await using _context = context
  await using environment = await openHostEnvironment(config, {
    hasUsers: context.users !== undefined,
    events: context.events,
  })
  await using running = await openWorker({ config, context, environment, puller, life })
  await serveOne(running, life.stop, { spareMs: config.spareSeconds * 1000, warmMs })
})
