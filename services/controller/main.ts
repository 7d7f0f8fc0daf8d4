import { programPath } from '#shared/process/program-path.ts'
import { runMain, untilStopped } from '#shared/process/run-main.ts'
import { readConfig } from './config.ts'
import { openContext } from './context.ts'

await runMain('controller', async ({ env, stop, announce }) => {
  const entries = { worker: programPath('worker/main'), job: programPath('worker/main-job') }
  await using context = await openContext(readConfig(env), entries)
  announce({ probeUrl: context.probeUrl })
  await untilStopped(stop)
})
