import type { IncomingMessage } from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
import { askEgress, refusalIn } from './ask-egress.ts'
import type { Traffic } from './traffic.ts'

/** A browser's CONNECT: its request, its socket, and what it sent beyond the request. */
export type Tunnel = { readonly request: IncomingMessage; readonly client: Duplex; readonly early: Buffer }

/** Joins a browser's CONNECT to egress, or notes why egress refuses it. A failed CONNECT never becomes a page. */
export const passTunnel = (egressPath: string, traffic: Traffic, { request, client, early }: Tunnel): void => {
  const outgoing = askEgress(egressPath, traffic.of, request)
  outgoing.on('error', (error) => {
    // Egress answers every CONNECT; its own end of a connection that nobody waits for is no fault.
    if (!client.destroyed) traffic.interrupt(`no answer of egress: ${error.message}`)
    client.destroy()
  })
  client.once('close', () => outgoing.destroy())
  outgoing.on('connect', (answer, upstream, head) => {
    const refusal = refusalIn(answer)
    if (refusal) traffic.refuse(URL.parse(`https://${request.url}`)?.hostname ?? '', refusal)
    else if (answer.statusCode !== 200) traffic.interrupt(`egress answers ${answer.statusCode}`)
    if (answer.statusCode !== 200 || client.destroyed) {
      upstream.destroy()
      client.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
      return
    }
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    client.write(head)
    upstream.write(early)
    upstream.on('data', (chunk: Buffer) => traffic.count(chunk.length))
    pipeline(client, upstream, client, () => {})
    client.on('data', (chunk: Buffer) => traffic.count(chunk.length))
    // Last: beyond the bound this cuts the client, and nothing is joined to a stream that is gone.
    traffic.count(early.length)
  })
  outgoing.end()
}
