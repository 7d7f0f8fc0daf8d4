import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** State of one connection: unfinished responses, and the bytes received when the last response finished. */
type Use = { running: number; bytesSeen: number }

/**
 * Tracks the connections of a server. The returned function closes idle connections at once, and the others after their
 * response. Node itself leaves open those on which nothing was ever sent, and those whose last response had begun before
 * the server was closed, so a stop would wait for idle clients.
 */
export const followConnections = (server: Server): (() => void) => {
  const uses = new Map<Socket, Use>()
  let closing = false

  // Bytes since the last response are a request whose head is incomplete: it is still served.
  const closeIdle = (socket: Socket, { running, bytesSeen }: Use) => {
    if (running === 0 && socket.bytesRead === bytesSeen) socket.destroySoon()
  }

  server.on('connection', (socket: Socket) => {
    const use = { running: 0, bytesSeen: 0 }
    uses.set(socket, use)
    socket.once('close', () => uses.delete(socket))
    if (closing) closeIdle(socket, use)
  })
  server.on('request', ({ socket }, response: ServerResponse) => {
    const use = uses.get(socket)
    if (!use) return
    use.running += 1
    response.once('close', () => {
      use.running -= 1
      use.bytesSeen = socket.bytesRead
      if (closing) closeIdle(socket, use)
    })
  })

  return () => {
    closing = true
    for (const [socket, use] of uses) closeIdle(socket, use)
  }
}
