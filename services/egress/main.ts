import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { formatAuthority } from '#shared/policy/host.ts'
import { runMain, untilStopped } from '#shared/process/run-main.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import { createApp } from './app.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'

await runMain('egress', async ({ env, stop, announce }) => {
  const config = readConfig(env)
  const egress = createContext(config)
  await using probe = await startProbeServer(config, {
    metrics: egress.metrics,
    health: () => ({ live: true, ready: !stop.aborted, detail: {} }),
  })
  const { server, drain } = createApp({ ...egress, connectionsMax: config.connectionsMax })
  server.listen(config.egressPort, config.egressHost)
  await once(server, 'listening')
  const { address: host, port } = server.address() as AddressInfo
  const url = `http://${formatAuthority({ host, port })}`
  egress.events.listening(url)
  announce({ egress: url, probeUrl: probe.url })
  await untilStopped(stop)
  await drain(config.drainMs)
})
