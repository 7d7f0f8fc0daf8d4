import { createServer, type Server } from 'node:http'
import { headerBytesMax } from './ask-egress.ts'
import { passRequest } from './pass-request.ts'
import { passTunnel } from './pass-tunnel.ts'
import { openTraffic, type Traffic, type TrafficBounds, type TrafficOf } from './traffic.ts'

/** Chromium's proxy: passes what a capture asks for to egress, and knows why egress refused. */
export type Forwarder = {
  /** Not yet listening. */
  readonly server: Server
  /**
   * Serves this capture until its traffic is disposed. Between captures, and where not `online`, every request is refused.
   * A connection to a host that `blocks` names is refused without asking egress, and says nothing about the target.
   */
  readonly begin: (of: TrafficOf & { readonly online: boolean; readonly blocks?: (host: string) => boolean }) => Traffic
}

/** Makes the proxy of one browser; `egressPath` is the Unix socket that leads to egress. */
export const createForwarder = (egressPath: string, bounds: TrafficBounds): Forwarder => {
  let active: Traffic | undefined
  let isBlocked = (_host: string) => false
  const blocks = (url: string) => isBlocked(URL.parse(url)?.hostname ?? '')
  const server = createServer({ maxHeaderSize: headerBytesMax, insecureHTTPParser: true })
  server.on('connect', (request, client, early) => {
    client.on('error', () => client.destroy())
    if (blocks(`https://${request.url}`)) client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
    else if (active?.admit(client)) passTunnel(egressPath, active, { request, client, early })
    else client.destroy()
  })
  server.on('request', (request, response) => {
    // Whatever were answered would become a page.
    if (blocks(request.url ?? '')) request.socket.destroy()
    else if (active?.admit(request.socket)) passRequest(egressPath, active, { request, response })
    else request.socket.destroy()
  })
  server.on('clientError', (_error, client) => client.destroy())
  return {
    server,
    begin: ({ online, blocks: named = () => false, ...of }) => {
      const traffic = openTraffic(of, bounds)
      active = online ? traffic : undefined
      isBlocked = named
      return {
        ...traffic,
        [Symbol.dispose]: () => {
          if (active === traffic) active = undefined
          traffic[Symbol.dispose]()
        },
      }
    },
  }
}
