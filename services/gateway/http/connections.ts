import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** State of one connection: unfinished responses, and the bytes received when the last response finished. */
type ConnectionState = { running: number; bytesSeen: number }

/**
 * Tracks the connections of a server. From `leaving` on, each response is the last of its connection, so that no client
 * sends a request on a connection that is about to close. The returned function closes idle connections at once, and the
 * others after their response. Node itself leaves open those on which nothing was ever sent, and those whose last response
 * had begun before the server was closed, so a stop would wait for idle clients.
 */
export const trackConnections = (server: Server, leaving: AbortSignal): (() => void) => {
  const states = new Map<Socket, ConnectionState>()
  let closing = false

  // Bytes since the last response are a request whose head is incomplete: it is still served.
  const closeIdle = (socket: Socket, { running, bytesSeen }: ConnectionState) => {
    if (running === 0 && socket.bytesRead === bytesSeen) socket.destroySoon()
  }

  server.on('connection', (socket: Socket) => {
    const state = { running: 0, bytesSeen: 0 }
    states.set(socket, state)
    socket.once('close', () => states.delete(socket))
    if (closing) closeIdle(socket, state)
  })
  server.prependListener('request', ({ socket }, response: ServerResponse) => {
    const state = states.get(socket)
    if (!state) return
    if (leaving.aborted) response.shouldKeepAlive = false
    state.running += 1
    response.once('close', () => {
      state.running -= 1
      state.bytesSeen = socket.bytesRead
      if (closing) closeIdle(socket, state)
    })
  })

  return () => {
    closing = true
    for (const [socket, state] of states) closeIdle(socket, state)
  }
}
