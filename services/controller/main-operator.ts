import { runMain, untilStopped } from '#shared/process/run-main.ts'
import { readConfig } from './operator/config.ts'
import { openContext } from './operator/context.ts'

await runMain('controller', async ({ env, stop, announce }) => {
  await using context = await openContext(readConfig(env))
  announce({ probeUrl: context.probeUrl })
  await untilStopped(stop)
})
