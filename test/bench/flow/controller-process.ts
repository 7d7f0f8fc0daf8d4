// The controller of one machine, whose workers are stand-ins.
import { resolve } from 'node:path'
import { readConfig } from '#controller/config.ts'
import { openContext } from '#controller/context.ts'
import { runMain, untilStopped } from '#shared/process/run-main.ts'

await runMain('controller', async ({ env, stop, announce }) => {
  const standIns = resolve(import.meta.dirname, 'worker-process.ts')
  await using context = await openContext(readConfig(env), { worker: standIns, job: standIns })
  announce({ probeUrl: context.probeUrl })
  await untilStopped(stop)
})
