import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from './metrics.ts'

/** Health of a service. `live` false requests a restart, `ready` false no new work. */
export type Health = { live: boolean; ready: boolean; detail: Readonly<Record<string, string>> }

type ProbeServer = AsyncDisposable & { readonly url: string }

const answer = (response: ServerResponse, ok: boolean, health: Health) => {
  response.writeHead(ok ? 200 : 503, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(health)}\n`)
}

/** Serves `/healthz`, which only shows that the event loop runs, `/livez`, `/readyz` and `/metrics`. Port 0 takes a free one. `health` must answer within its own bound. */
export const startProbeServer = async (options: {
  host: string
  port: number
  metrics: Metrics
  health: () => Promise<Health> | Health
}): Promise<ProbeServer> => {
  const server = createServer(async (request, response) => {
    try {
      if (request.url === '/healthz') {
        response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n')
        return
      }
      if (request.url === '/metrics') {
        response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
        response.end(await options.metrics.text())
        return
      }
      const health = await options.health()
      if (request.url === '/livez') answer(response, health.live, health)
      else if (request.url === '/readyz') answer(response, health.live && health.ready, health)
      else response.writeHead(404).end()
    } catch {
      response.writeHead(500).end()
    }
  })
  server.requestTimeout = 10_000
  server.listen(options.port, options.host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
