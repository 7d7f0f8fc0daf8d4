import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CaptureParameters } from '#shared/capture/options.ts'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { captureWith, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import type { HostSettings, Shot } from '#worker/protocol/protocol.ts'

/**
 * Serves many host names on one port of loopback, and starts a browser host that can reach all of them, both until the tests
 * end. Keys of routes are `host/path` or `/path`. `requests` contains the received requests, as `host/path`.
 */
export const startManyHosts = async (
  lifetime: { readonly teardown: (clean: () => Promise<void>) => unknown },
  hosts: readonly string[],
  { routes = {}, settings = {} }: { routes?: Readonly<Record<string, Route>>; settings?: Partial<HostSettings> } = {},
) => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const { hostname, pathname } = new URL(request.url ?? '/', `http://${request.headers.host}`)
    requests.push(`${hostname}${pathname}`)
    const route = routes[`${hostname}${pathname}`] ?? routes[pathname]
    if (route) route(request, response)
    else response.writeHead(200, { 'access-control-allow-origin': '*' }).end('')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const records = Object.fromEntries(hosts.map((host) => [host, { A: ['127.0.0.1'] }]))
  const egress = await startTestEgress(`127.0.0.1:${port} ${hosts.map((host) => `${host}:${port}`).join(' ')}`, records)
  const host = await startTestHost(egress, settings)
  lifetime.teardown(async () => {
    await host[Symbol.asyncDispose]()
    await egress[Symbol.asyncDispose]()
    server.close()
    server.closeAllConnections()
  })
  const shoot = async (parameters: CaptureParameters): Promise<Shot> => {
    const outcome = await captureWith(host, { timeout: 10, ...parameters })
    if (outcome.outcome !== 'completed') throw new Error(JSON.stringify(outcome))
    return outcome.shot
  }
  return { requests, port, host, shoot, urlOf: (name: string, path = '/') => `http://${name}:${port}${path}` }
}
