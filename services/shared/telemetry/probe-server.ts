import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { boundConnections } from '#shared/config/bound-connections.ts'
import { fewConnections, serverBounds } from '#shared/config/server-bounds.ts'
import { formatAuthority } from '#shared/policy/host.ts'
import type { Metrics } from './metrics.ts'

/** Health of a service. `live` false requests a restart, `ready` false no new work. */
export type Health = { live: boolean; ready: boolean; detail: Readonly<Record<string, string>> }

const answer = (response: ServerResponse, ok: boolean, health: Health) => {
  response.writeHead(ok ? 200 : 503, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(health)}\n`)
}

/** Serves `/healthz`, which only shows that the event loop runs, `/livez`, `/readyz` and `/metrics`. Port 0 takes a free one. `health` must bound its own time. */
export const startProbeServer = async (
  { probeHost, probePort }: { readonly probeHost: string; readonly probePort: number },
  { metrics, health: read }: { readonly metrics: Metrics; readonly health: () => Promise<Health> | Health },
): Promise<AsyncDisposable & { readonly url: string }> => {
  const server = createServer(
    { ...serverBounds, requestTimeout: serverBounds.headersTimeout },
    async (request, response) => {
      try {
        if (request.url === '/healthz') {
          response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n')
          return
        }
        if (request.url === '/metrics') {
          const { accept } = request.headers
          response.writeHead(200, { 'content-type': metrics.contentType(accept) })
          response.end(await metrics.text(accept))
          return
        }
        const health = await read()
        if (request.url === '/livez') answer(response, health.live, health)
        else if (request.url === '/readyz') answer(response, health.live && health.ready, health)
        else response.writeHead(404).end()
      } catch {
        response.writeHead(500).end()
      }
    },
  )
  boundConnections(server, { max: fewConnections })
  server.listen(probePort, probeHost)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${formatAuthority({ host: probeHost, port })}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
