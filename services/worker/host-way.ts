import { once } from 'node:events'
import { chown } from 'node:fs/promises'
import type { BrowserUser } from './browser-host/protocol.ts'
import { createEgressRelay, type EgressWay } from './egress-relay.ts'
import type { Host } from './host-process.ts'

/** The way of one browser host to egress, which ends with it. */
export type HostWay = AsyncDisposable & {
  /** Unix socket that leads to egress. */
  readonly path: string
  readonly restartCount: () => void
}

/** Bounds of what one capture moves: bytes of bodies and tunnels, and connections, each with a head in both directions. */
export type WayBounds = { readonly captureBytesMax: number; readonly captureConnectionsMax: number }

/** Egress takes no larger head, in either direction. */
const headBytesMax = 65_536

/** More than a host lets pass that counts for itself: only one that does not is cut here. */
const relayBytesMax = ({ captureBytesMax, captureConnectionsMax }: WayBounds): number =>
  captureBytesMax + captureConnectionsMax * 2 * headBytesMax

/** Opens a socket at `path` for hosts of `user`, or of the worker's own user where it is undefined. */
export const openHostWay = async (
  bounds: EgressWay & WayBounds,
  { path, user }: { readonly path: string; readonly user: BrowserUser | undefined },
): Promise<HostWay> => {
  const { server, restartCount } = createEgressRelay(bounds, relayBytesMax(bounds))
  server.listen(path)
  await once(server, 'listening')
  if (user) await chown(path, user.userId, user.groupId)
  return { path, restartCount, [Symbol.asyncDispose]: async () => void server.close() }
}

/** The host with its way: each capture has the whole bound, and the way goes with the host. */
export const onWay = (host: Host, way: HostWay): Host => ({
  gone: host.gone,
  capture: (order, endsAt) => {
    way.restartCount()
    return host.capture(order, endsAt)
  },
  [Symbol.asyncDispose]: async () => {
    await host[Symbol.asyncDispose]()
    await way[Symbol.asyncDispose]()
  },
})
