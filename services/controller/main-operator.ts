import { setFlagsFromString } from 'node:v8'
import { runMain, untilStopped } from '#shared/process/run-main.ts'

// Loading the client library grows V8's young generation to 100 MB, which V8 would never shrink again.
setFlagsFromString('--semi-space-growth-factor=1')
// The live heap is tens of megabytes. Collect after it has grown by 20 %, not after it has doubled.
setFlagsFromString('--heap-growing-percent=20')
const { readConfig } = await import('./operator/config.ts')
const { openContext } = await import('./operator/context.ts')

await runMain('controller', async ({ env, stop, announce }) => {
  await using context = await openContext(readConfig(env))
  announce({ probeUrl: context.probeUrl })
  await untilStopped(stop)
})
