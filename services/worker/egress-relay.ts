import { connect, createServer, type Server, type Socket } from 'node:net'
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

/** The relay's server, not yet listening, and its count of bytes. */
export type EgressRelay = {
  readonly server: Server
  /** Counts from nothing again: another capture begins. */
  readonly restartCount: () => void
}

/**
 * Makes the only way out of a browser's network namespace: what connects to this server, which is to listen on a Unix
 * socket, is joined byte by byte to the egress filter. The token is added here, so that no browser host holds it, and
 * bytes of both directions are counted here, where no browser host can reset them: beyond `bytesMax` all is cut.
 */
export const createEgressRelay = (
  { egress, egressToken }: EgressWay,
  bytesMax: number = Number.POSITIVE_INFINITY,
): EgressRelay => {
  const header = egressToken && `${egressTokenHeader}: ${egressTokenValue(egressToken)}`
  const clients = new Set<Socket>()
  let bytes = 0
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= bytesMax) return
    for (const client of clients) client.destroy()
  }
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (bytes > bytesMax) {
      client.destroy()
      return
    }
    clients.add(client)
    const upstream = connect({ ...egress, allowHalfOpen: true })
    const way = header ? [client, addHeader(header), upstream, client] : [client, upstream, client]
    pipeline(way, () => {
      clients.delete(client)
      client.destroy()
      upstream.destroy()
    })
    client.on('data', count)
    upstream.on('data', count)
  })
  server.maxConnections = connectionsMax
  return {
    server,
    restartCount: () => {
      bytes = 0
    },
  }
}
