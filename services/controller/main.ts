import { programOf } from '#shared/process/program-of.ts'
import { runMain } from '#shared/process/run-main.ts'
import { jobLifeMs, policyOf, readConfig, stealthPolicyOf } from './config.ts'
import { openContext } from './context.ts'

await runMain('controller', async ({ env, stop, announce }) => {
  const config = readConfig(env)
  await using context = await openContext(config, {
    policy: policyOf(config),
    stealthPolicy: stealthPolicyOf(config),
    workerEntry: programOf('worker/main'),
    jobEntry: programOf('worker/main-job'),
    jobLifeMs: jobLifeMs(config),
  })
  announce({ probeUrl: context.probeUrl })
  await context.run(stop)
})
