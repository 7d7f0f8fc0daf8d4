import type { Socket } from 'node:net'

/** A watch that sends nothing for this long has no client any more. */
const silentMs = 30_000

/** Connections on which clients see whether this filter is still there: each byte comes back. Begins without any. */
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
    /** Ends them all: the filter takes no more connections. */
    end: () => {
      for (const client of open) client.destroy()
    },
  }
}
