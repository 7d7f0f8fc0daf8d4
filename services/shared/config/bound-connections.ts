import type { Server, Socket } from 'node:net'
import { type Cidr, inAny } from '#shared/policy/cidr.ts'
import { clientAt, parseHop } from '#shared/policy/client.ts'
import { clientHolders, type ReachedBound, Shares } from '#shared/policy/shares.ts'

/** Bounds of the connections of one server. */
export type ConnectionBounds = {
  /** In all; one client gets a quarter of them, a site half. */
  readonly max: number
  /** Proxies of our own, whose connections are those of many clients: bounded by `max` alone. */
  readonly trustedProxies?: readonly Cidr[]
  /** A connection was closed at once. */
  readonly refused?: (bound: ReachedBound) => void
}

/** Closes connections above a bound as soon as they are accepted. */
export const boundConnections = (server: Server, { max, trustedProxies = [], refused }: ConnectionBounds): void => {
  const places = new Shares(max)
  const takePlace = ({ remoteAddress = '' }: Socket) => {
    const address = parseHop(remoteAddress)
    const isProxy = address !== undefined && inAny(trustedProxies, address)
    return places.take(1, isProxy ? [] : clientHolders(clientAt(address)))
  }
  server.maxConnections = max
  server.on('drop', () => refused?.('all'))
  server.on('connection', (socket: Socket) => {
    const place = takePlace(socket)
    if (typeof place !== 'string') return void socket.once('close', () => place[Symbol.dispose]())
    refused?.(place)
    socket.destroy()
  })
}
