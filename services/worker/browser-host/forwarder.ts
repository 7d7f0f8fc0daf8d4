import { createServer, type IncomingMessage, request as openRequest, type Server, type ServerResponse } from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
import { captureHeader, parseRefusal, refusalHeader } from '#shared/net/refusal.ts'
import { openTraffic, type Traffic, type TrafficBounds } from './traffic.ts'

/** Chromium itself refuses answers with more than this. */
const headerBytesMax = 262_144

/** Headers that concern one connection only, and those by which a browser talks to its proxy. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Chromium's proxy: passes what a capture asks for to egress, and knows why egress refused. */
export type Forwarder = {
  /** Not yet listening. */
  readonly server: Server
  /** Serves this capture until its traffic is disposed. Between captures every request is refused. */
  readonly begin: (captureId: string) => Traffic
}

/** A request head as egress is asked: raw name and value pairs. */
const endToEnd = (rawHeaders: readonly string[]): string[] => {
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    if (!hopByHop.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

const hostOf = (address: string) => URL.parse(address)?.hostname ?? ''

/** Makes the proxy of one browser; `egressPath` is the Unix socket that leads to egress. */
export const createForwarder = (egressPath: string, bounds: TrafficBounds): Forwarder => {
  let active: Traffic | undefined

  const ask = (traffic: Traffic, request: IncomingMessage) =>
    openRequest({
      socketPath: egressPath,
      method: request.method,
      path: request.url,
      headers: [...endToEnd(request.rawHeaders), captureHeader, traffic.captureId],
      maxHeaderSize: headerBytesMax,
      insecureHTTPParser: true,
      // A kept connection could be closed by egress just when it is used again.
      agent: false,
    })

  const tunnel = (request: IncomingMessage, client: Duplex, early: Buffer) => {
    const traffic = active
    client.on('error', () => client.destroy())
    if (!traffic?.admit(client)) return client.destroy()
    const outgoing = ask(traffic, request)
    outgoing.on('error', () => client.destroy())
    client.once('close', () => outgoing.destroy())
    outgoing.on('connect', (answer, upstream, head) => {
      const refusal = parseRefusal(answer.headers[refusalHeader]?.toString())
      if (refusal) traffic.refuse(hostOf(`https://${request.url}`), refusal)
      if (answer.statusCode !== 200 || client.destroyed) {
        upstream.destroy()
        return client.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
      }
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.write(head)
      upstream.write(early)
      upstream.on('data', (chunk: Buffer) => traffic.count(chunk.length))
      pipeline(client, upstream, client, () => {})
    })
    outgoing.end()
  }

  const forward = (request: IncomingMessage, response: ServerResponse) => {
    const traffic = active
    const client = request.socket
    if (!traffic?.admit(client)) return client.destroy()
    const outgoing = ask(traffic, request)
    outgoing.on('error', () => client.destroy())
    response.once('close', () => outgoing.destroy())
    outgoing.on('response', (answer) => {
      const refusal = parseRefusal(answer.headers[refusalHeader]?.toString())
      if (refusal) {
        traffic.refuse(hostOf(request.url ?? ''), refusal)
        // Whatever were written here would become a page.
        return client.destroy()
      }
      try {
        response.sendDate = false
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders))
      } catch {
        return client.destroy()
      }
      answer.on('data', (chunk: Buffer) => traffic.count(chunk.length))
      pipeline(answer, response, () => {})
    })
    pipeline(request, outgoing, () => {})
  }

  const server = createServer({ maxHeaderSize: headerBytesMax, insecureHTTPParser: true })
  server.on('connect', tunnel)
  server.on('request', forward)
  server.on('clientError', (_error, client) => client.destroy())
  return {
    server,
    begin: (captureId) => {
      const traffic = openTraffic(captureId, bounds)
      active = traffic
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
