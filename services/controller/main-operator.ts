import { setFlagsFromString } from 'node:v8'
import { runMain, untilStopped } from '#shared/process/run-main.ts'

// Loading the client library makes V8's young generation grow to a hundred megabytes, which it would keep for ever.
setFlagsFromString('--semi-space-growth-factor=1')
// What lives is tens of megabytes: it is collected when a fifth of it is garbage, not as much again.
setFlagsFromString('--heap-growing-percent=20')
const { readConfig } = await import('./operator/config.ts')
const { openContext } = await import('./operator/context.ts')

await runMain('controller', async ({ env, stop, announce }) => {
  await using context = await openContext(readConfig(env))
  announce({ probeUrl: context.probeUrl })
  await untilStopped(stop)
})
