import { runMain } from '#shared/process/run-main.ts'
import { drainSubject, undrainSubject } from '#shared/queue/subjects.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { serveUntil } from './loop.ts'

await runMain('worker', async (life) => {
  await using worker = await createContext(readConfig(life.env), life)
  const { queue, lifecycle, pool, pod } = worker
  using _drain = queue.subscribe(drainSubject({ pool, pod }), lifecycle.drain)
  using _undrain = queue.subscribe(undrainSubject({ pool, pod }), lifecycle.undrain)
  await serveUntil(worker, life.stop)
})
