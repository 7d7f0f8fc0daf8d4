import { programPath } from '#shared/process/program-path.ts'
import { runMain, untilStopped } from '#shared/process/run-main.ts'
import { jobLifeMs, policyOf, readConfig, stealthPolicyOf } from './config.ts'
import { openContext } from './context.ts'

await runMain('controller', async ({ env, stop, announce }) => {
  const config = readConfig(env)
  await using context = await openContext(config, {
    policy: policyOf(config),
    stealthPolicy: stealthPolicyOf(config),
    workerEntry: programPath('worker/main'),
    jobEntry: programPath('worker/main-job'),
    jobLifeMs: jobLifeMs(config),
  })
  announce({ probeUrl: context.probeUrl })
  await untilStopped(stop)
})
