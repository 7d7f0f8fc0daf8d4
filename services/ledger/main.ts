import { setTimeout as delay } from 'node:timers/promises'
import { runMain, untilStopped } from '#shared/process/run-main.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import { runLedger } from './app.ts'
import { readConfig } from './config.ts'
import { openContext } from './context.ts'

/** Bound on the wait for running turns at a stop; the next ledger repeats those that are interrupted. */
const finishMs = 15_000

await runMain('ledger', async ({ env, stop, announce, rest, hasTraces }) => {
  const config = readConfig(env)
  await using ledger = await openContext(config, { stop, rest, hasTraces })
  await using probe = await startProbeServer(config, ledger)
  const running = runLedger(ledger, stop, () => announce({ probeUrl: probe.url }))
  await Promise.race([running, untilStopped(stop)])
  ledger.events.stopping()
  await Promise.race([running, delay(finishMs, undefined, { ref: false })])
})
