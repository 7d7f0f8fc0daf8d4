import { connect, createServer, type Server } from 'node:net'
import { pipeline } from 'node:stream'
import type { HostPort } from '#shared/config/settings/worker.ts'

/** Most connections of one worker's browsers at one time. */
const connectionsMax = 4096

/**
 * Makes the only way out of a browser's network namespace: what connects to this server, which is to listen on a Unix
 * socket, is joined byte by byte to the egress filter. It looks at nothing, so it can be lied to about nothing.
 */
export const createEgressRelay = (egress: HostPort): Server => {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ ...egress, allowHalfOpen: true })
    pipeline(client, upstream, client, () => {
      client.destroy()
      upstream.destroy()
    })
  })
  server.maxConnections = connectionsMax
  return server
}
