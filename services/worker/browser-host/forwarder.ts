import { createServer, type Server } from 'node:http'
import { headerBytesMax } from './ask-egress.ts'
import { passRequest } from './pass-request.ts'
import { passTunnel } from './pass-tunnel.ts'
import { openTraffic, type Traffic, type TrafficBounds, type TrafficOf } from './traffic.ts'

/** Chromium's proxy: passes what a capture asks for to egress, and knows why egress refused. */
export type Forwarder = {
  /** Not yet listening. */
  readonly server: Server
  /** Serves this capture until its traffic is disposed. Between captures, and where not `online`, every request is refused. */
  readonly begin: (of: TrafficOf & { readonly online: boolean }) => Traffic
}

/** Makes the proxy of one browser; `egressPath` is the Unix socket that leads to egress. */
export const createForwarder = (egressPath: string, bounds: TrafficBounds): Forwarder => {
  let active: Traffic | undefined
  const server = createServer({ maxHeaderSize: headerBytesMax, insecureHTTPParser: true })
  server.on('connect', (request, client, early) => {
    client.on('error', () => client.destroy())
    if (active?.admit(client)) passTunnel(egressPath, active, { request, client, early })
    else client.destroy()
  })
  server.on('request', (request, response) => {
    if (active?.admit(request.socket)) passRequest(egressPath, active, { request, response })
    else request.socket.destroy()
  })
  server.on('clientError', (_error, client) => client.destroy())
  return {
    server,
    begin: ({ online, ...of }) => {
      const traffic = openTraffic(of, bounds)
      active = online ? traffic : undefined
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
