import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { boundConnections } from '#shared/config/bound-connections.ts'
import { formatAuthority } from '#shared/policy/host.ts'
import { abortAfter } from '#shared/process/pause.ts'
import { runMain, untilStopped } from '#shared/process/run-main.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import { Bodies } from './http/bodies.ts'
import { trackConnections } from './http/connections.ts'
import { createClients } from './http/identification/clients.ts'
import { openCells } from './router/ask-cell.ts'
import { CellDirectory } from './router/cell-directory.ts'
import { readRouterConfig } from './router/config.ts'
import { createRouterEvents } from './router/events.ts'
import { serveCells } from './router/serve-cells.ts'

await runMain('router', async ({ env, stop, announce }) => {
  const config = readRouterConfig(env)
  const { cells, publicUrl } = config
  const metrics = createMetrics('router')
  const events = createRouterEvents(createLogger({ service: 'router', level: config.logLevel }), metrics)
  await using connections = openCells()
  const { agent, ask } = connections
  const directory = new CellDirectory({ cells, ask, events, nowMs: () => performance.now(), wait: delay })
  const { trustedProxies } = config
  const clients = createClients({ trustedProxies, ignored: events.proxyIgnored })
  const bodies = new Bodies(events)
  const server = serveCells({ cells, directory, agent, publicUrl, events, clients, bodies })
  boundConnections(server, { max: config.connectionsMax, trustedProxies, refused: events.connectionRefused })
  const closeConnections = trackConnections(server, stop)
  server.listen(config.routerPort, config.routerHost)
  await once(server, 'listening')
  const { address, port } = server.address() as AddressInfo
  const baseUrl = `http://${formatAuthority({ host: address, port })}`
  const health = () => ({ live: true, ready: !stop.aborted, detail: {} })
  await using probe = await startProbeServer(config, { metrics, health })
  events.listening(baseUrl, cells)
  announce({ baseUrl, probeUrl: probe.url })
  await untilStopped(abortAfter(stop, config.shutdownDelayMs))
  const closed = once(server, 'close')
  server.close()
  closeConnections()
  await Promise.race([closed, delay(config.drainMs, undefined, { ref: false })])
  server.closeAllConnections()
})
