import { connect, createServer, type Server } from 'node:net'
import { pipeline, Transform } from 'node:stream'
import type { HostPort } from '#shared/config/settings/worker.ts'
import { egressTokenHeader, egressTokenValue } from '#shared/net/egress-token.ts'

/** Most connections of one worker's browsers at one time. */
const connectionsMax = 4096
/** Egress takes no head that is larger. */
const requestLineBytesMax = 65_536
const lineFeed = 0x0a

/**
 * Puts a header behind the first line of a stream and passes on all else as it comes. A client cannot get at the header:
 * whatever the line is, egress reads it as the first header of the first request, or finds no request.
 */
const addHeader = (header: string): Transform => {
  let line: Buffer | undefined = Buffer.alloc(0)
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      if (line === undefined) {
        done(null, chunk)
        return
      }
      line = Buffer.concat([line, chunk])
      const end = line.indexOf(lineFeed) + 1
      if (end === 0) {
        done(line.length > requestLineBytesMax ? new Error('the request line is too long') : null)
        return
      }
      const passed = Buffer.concat([line.subarray(0, end), Buffer.from(`${header}\r\n`), line.subarray(end)])
      line = undefined
      done(null, passed)
    },
  })
}

/** The way to egress: where it listens, and the token that it asks for; '' where it asks for none. */
export type EgressWay = { readonly egress: HostPort; readonly egressToken: string }

/**
 * Makes the only way out of a browser's network namespace: what connects to this server, which is to listen on a Unix
 * socket, is joined byte by byte to the egress filter. Only the token is added here, so that no browser host holds it.
 */
export const createEgressRelay = ({ egress, egressToken }: EgressWay): Server => {
  const header = egressToken && `${egressTokenHeader}: ${egressTokenValue(egressToken)}`
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ ...egress, allowHalfOpen: true })
    const way = header ? [client, addHeader(header), upstream, client] : [client, upstream, client]
    pipeline(way, () => {
      client.destroy()
      upstream.destroy()
    })
  })
  server.maxConnections = connectionsMax
  return server
}
