import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What is known of one connection: answers that are not sent whole, and the bytes that had come when the last one was. */
type Use = { running: number; bytesSeen: number }

/**
 * Follows the connections of a server. What it returns closes those on which no request runs, now, and the others with the
 * answer that they wait for. Node alone leaves those open on which nothing was ever sent, and those whose last
 * answer had begun before the server was closed: a stop would wait for clients that have nothing to say.
 */
export const followConnections = (server: Server): (() => void) => {
  const uses = new Map<Socket, Use>()
  let closing = false

  // A request whose head is on its way is still answered.
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
