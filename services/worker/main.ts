import { runMain } from '#shared/process/run-main.ts'
import { LanePuller } from '#shared/queue/lane-puller.ts'
import { drainSubject, undrainSubject } from '#shared/queue/subjects.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { openGround } from './ground.ts'
import { serveUntil } from './loop.ts'
import { openWorker } from './open-worker.ts'

await runMain('worker', async (life) => {
  const config = readConfig(life.env)
  const context = await createContext(config)
  using puller = new LanePuller(context.queue, config.pool)
  // Ends before the puller does: until the connection is flushed, what still arrives is handed back.
  await using _context = context
  await using ground = await openGround(config, { hasUsers: context.users !== undefined, events: context.events })
  await using running = await openWorker({ config, context, ground, puller, life })
  const { queue, duty, pool, pod } = running
  using _drain = queue.subscribe(drainSubject({ pool, pod }), duty.drain)
  using _undrain = queue.subscribe(undrainSubject({ pool, pod }), duty.undrain)
  await serveUntil(running, life.stop)
})
