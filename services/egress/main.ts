import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { formatAuthority } from '#shared/policy/host.ts'
import { abortAfter } from '#shared/process/pause.ts'
import { runMain, untilStopped } from '#shared/process/run-main.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import { createApp } from './app.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { keepCertificate } from './keep-certificate.ts'

await runMain('egress', async ({ env, stop, announce }) => {
  const config = readConfig(env)
  const egress = createContext(config)
  await using probe = await startProbeServer(config, {
    metrics: egress.metrics,
    health: () => ({ live: true, ready: !stop.aborted, detail: {} }),
  })
  const app = createApp({ ...egress, connectionsMax: config.connectionsMax })
  const listen = async (server: Server, scheme: string, onPort: number) => {
    server.listen(onPort, config.egressHost)
    await once(server, 'listening')
    const { address: host, port } = server.address() as AddressInfo
    const url = `${scheme}://${formatAuthority({ host, port })}`
    egress.events.listening(url)
    return url
  }
  const isTls = config.certificateFile !== ''
  using _ = isTls ? await keepCertificate(app.tlsServer, config, egress.events) : undefined
  const url = isTls
    ? await listen(app.tlsServer, 'https', config.egressPort)
    : await listen(app.server, 'http', config.egressPort)
  if (config.plainPort !== 0) await listen(app.server, 'http', config.plainPort)
  announce({ egress: url, probeUrl: probe.url })
  await untilStopped(abortAfter(stop, config.shutdownDelayMs))
  await app.drain(config.drainMs)
})
