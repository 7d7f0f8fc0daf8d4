import type { Socket } from 'node:net'

/** Resolves once a socket has closed, to whether both its directions ended cleanly. */
const closing = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    const closed = () => resolve(socket.errored === null && socket.readableEnded && socket.writableFinished)
    if (socket.closed) closed()
    else socket.once('close', closed)
  })

/** Time after which a peer that does not close its side is disconnected. */
const lingerMs = 1000

/** Closes a socket once all is written. Drops data that still arrives: left unread, it would reset the connection. */
const finish = (socket: Socket): void => {
  if (socket.destroyed) return
  socket.end(() => {
    const linger = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(linger))
  })
  socket.resume()
}

/**
 * Forwards bytes both ways, with back-pressure, until both sockets have closed: an end of either is passed on to the
 * other, and if one closes, the other is closed once all has been written to it. Resolves to whether both ended
 * cleanly; never throws. Both sockets must have an 'error' listener and `allowHalfOpen`. Uses `pipe`, because each
 * `pipeline` costs another 0.1 ms of processor time.
 */
export const joinSockets = async (one: Socket, other: Socket): Promise<boolean> => {
  one.pipe(other).pipe(one)
  const ends = [closing(one).finally(() => finish(other)), closing(other).finally(() => finish(one))]
  return (await Promise.all(ends)).every(Boolean)
}
