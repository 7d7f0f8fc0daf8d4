import { resolve } from 'node:path'
import { runMain } from '#shared/process/run-main.ts'
import { jobLifeMs, policyOf, readConfig, stealthPolicyOf } from './config.ts'
import { openContext } from './context.ts'

await runMain('controller', async ({ env, stop, announce }) => {
  const config = readConfig(env)
  await using context = await openContext(config, {
    policy: policyOf(config),
    stealthPolicy: stealthPolicyOf(config),
    workerEntry: resolve(import.meta.dirname, '../worker/main.ts'),
    jobEntry: resolve(import.meta.dirname, '../worker/main-job.ts'),
    jobLifeMs: jobLifeMs(config),
  })
  announce({ probeUrl: context.probeUrl })
  await context.run(stop)
})
