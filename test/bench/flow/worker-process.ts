// Stand-ins of workers, many in one process: all of a worker's code but the browser host, in whose place each capture takes a
// fixed time and yields the same image. A controller starts it as it starts a worker.
import { runMain } from '#shared/process/run-main.ts'
import { readConfig } from '#worker/config.ts'
import { standInVariables } from './stand-in-variables.ts'
import { createShot, runStandIn } from './stand-in-worker.ts'

await runMain('worker', async ({ env, stop, announce }) => {
  const config = readConfig(env)
  const captureMs = Number(env[standInVariables.captureMs])
  const count = Number(env[standInVariables.workers])
  const shot = await createShot()
  const { promise: ready, resolve } = Promise.withResolvers<void>()
  const running = Array.from({ length: count }, (_, nth) =>
    // The first has the name that the controller chose, and counts as the only one that it started.
    runStandIn(
      { config, pod: nth === 0 ? config.pod : `${config.pod}-${nth}`, captureMs, shot },
      { stop, ready: resolve },
    ),
  )
  await ready
  announce({})
  await Promise.all(running)
})
