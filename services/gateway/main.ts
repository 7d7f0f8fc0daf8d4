import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { boundConnections } from '#shared/config/bound-connections.ts'
import { abortAfter } from '#shared/process/pause.ts'
import { runMain } from '#shared/process/run-main.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import { adminOf, openAdmin } from './admin/admin-app.ts'
import { operatorOperations } from './admin/operator-operations.ts'
import { createApp } from './app.ts'
import { trackConnections } from './http/connections.ts'
import { readConfig, settingsInForce } from './context/config.ts'
import { openContext } from './context/context.ts'
import { createObjectsServer } from './http/objects-endpoint.ts'
import { routes } from './routes.ts'

/** Time to send the last responses, after all waits for captures were ended. */
const lastResponsesMs = 5000

const urlOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

await runMain('gateway', async ({ env, stop: leaving, announce, rest, hasTraces }) => {
  const config = readConfig(env)
  const stop = abortAfter(leaving, config.shutdownDelayMs)
  let listeningUrl = ''
  const lifecycle = { stop, rest, hasTraces, listeningUrl: () => listeningUrl, operations: routes }
  await using gateway = await openContext(config, lifecycle)
  gateway.events.browserAgeMax(config.browserAgeDaysMax)
  const administration = adminOf(gateway, config, settingsInForce(env))
  const app = createApp(gateway, operatorOperations(administration))
  const closeConnections = trackConnections(app.server, leaving)
  const { connectionsMax: max, trustedProxies } = config
  boundConnections(app.server, { max, trustedProxies, refused: gateway.events.connectionRefused })
  await app.listen({ host: config.gatewayHost, port: config.gatewayPort })
  listeningUrl = urlOf(app.server)

  const objects = gateway.files && createObjectsServer({ ...gateway, files: gateway.files, ...config })
  objects?.listen(config.objectsPort, config.objectsHost)
  if (objects) await once(objects, 'listening')

  await using admin = openAdmin({ ...gateway, ...administration }, config)
  await admin?.app.listen({ host: config.adminHost, port: config.adminPort })
  await using probe = await startProbeServer(config, gateway)
  const addresses = {
    baseUrl: listeningUrl,
    probeUrl: probe.url,
    ...(objects && { objectsUrl: urlOf(objects) }),
    ...(admin && { adminUrl: urlOf(admin.app.server) }),
  }
  gateway.events.listening(addresses)
  announce(addresses)

  const mismatch = await gateway.pepper.mismatch
  gateway.events.draining(gateway.waiters.count())
  // Event streams end once they see that the gateway is stopping; their clients reconnect to another replica.
  gateway.waiters.wake()
  const closed = app.close()
  closeConnections()
  await Promise.race([closed, delay(config.drainMs, undefined, { ref: false })])
  gateway.waiters.stop()
  await Promise.race([closed, delay(lastResponsesMs, undefined, { ref: false })])
  app.server.closeAllConnections()
  objects?.close()
  objects?.closeAllConnections()
  if (mismatch) throw mismatch
})
