import { checkEgress } from '#shared/net/check-egress.ts'
import { runMain } from '#shared/process/run-main.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import { readConfig } from './config.ts'
import { openContext } from './context.ts'
import { recordKeys } from './record-keys.ts'
import { runSender } from './sender.ts'

await runMain('webhooks', async ({ env, stop, announce, rest }) => {
  const config = readConfig(env)
  await using sender = await openContext(config, { stop, rest })
  // A proxy that filters nothing would let receivers be addresses of this network.
  await checkEgress(sender.egress, config.egressToken)
  await using probe = await startProbeServer(config, sender)
  announce({ probeUrl: probe.url })
  await Promise.all([recordKeys(sender.database, config.openingKeys, stop), runSender(sender, stop, config.drainMs)])
})
