import { runMain } from '#shared/process/run-main.ts'
import { LanePuller } from './lane-puller.ts'
import { drainSubject, undrainSubject } from '#shared/queue/subjects.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { openHostEnvironment } from './host-environment.ts'
import { serveUntil } from './loop.ts'
import { openWorker } from './open-worker.ts'

await runMain('worker', async (life) => {
  const config = readConfig(life.env)
  const context = await createContext(config)
  using puller = new LanePuller(context.queue, config.pool)
  // Ends before the puller does: until the connection is flushed, what still arrives is handed back.
  await using _context = context
  await using environment = await openHostEnvironment(config, {
    hasUsers: context.users !== undefined,
    events: context.events,
  })
  await using running = await openWorker({ config, context, environment, puller, life })
  const { queue, lifecycle, pool, pod } = running
  using _drain = queue.subscribe(drainSubject({ pool, pod }), lifecycle.drain)
  using _undrain = queue.subscribe(undrainSubject({ pool, pod }), lifecycle.undrain)
  await serveUntil(running, life.stop)
})
