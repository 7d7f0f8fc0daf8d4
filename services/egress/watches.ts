import type { Socket } from 'node:net'

/** A watch that sends nothing for this long is closed: its client is gone. */
const silentMs = 30_000

/** Creates an empty set of watches: connections that echo each byte, by which clients check that this filter is alive. */
export const createWatches = () => {
  const open = new Set<Socket>()
  return {
    add: (client: Socket) => {
      open.add(client)
      client.once('close', () => open.delete(client))
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
