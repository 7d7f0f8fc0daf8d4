import type { Server, Socket } from 'node:net'

/** A watch that sends nothing for this long is closed: its client is gone. */
const silentMs = 30_000

/** Creates an empty set of watches: connections that echo each byte, by which clients check that this filter is alive. */
export const createWatches = () => {
  const open = new Set<Socket>()
  const bounds = new Map<Server, number>()
  const applyBounds = () => {
    for (const [server, connectionsMax] of bounds) server.maxConnections = connectionsMax + open.size
  }
  return {
    /** Bounds a server's connections, beside which it may have any number of watches: they are no load. */
    bound: (server: Server, connectionsMax: number) => {
      bounds.set(server, connectionsMax)
      applyBounds()
    },
    add: (client: Socket) => {
      open.add(client)
      applyBounds()
      client.once('close', () => {
        open.delete(client)
        applyBounds()
      })
      client.setTimeout(silentMs, () => client.destroy())
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.pipe(client)
    },
    count: () => open.size,
    /** Ends all watches, because the filter accepts no more connections. */
    end: () => {
      for (const client of open) client.destroy()
    },
  }
}
