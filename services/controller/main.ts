import { resolve } from 'node:path'
import { runMain } from '#shared/process/run-main.ts'
import { policyOf, readConfig } from './config.ts'
import { openContext } from './context.ts'
import { runLoop } from './loop.ts'

const tickLimitMs = 5000

await runMain('controller', async ({ env, stop, announce }) => {
  const config = readConfig(env)
  await using context = await openContext(config, resolve(import.meta.dirname, '../worker/main.ts'))
  announce({ probeUrl: context.probeUrl })
  await runLoop(context.loop, policyOf(config), { tickMs: config.poolTickMs, limitMs: tickLimitMs }, stop)
})
