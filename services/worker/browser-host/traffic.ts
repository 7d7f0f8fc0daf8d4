import type { Duplex } from 'node:stream'
import { AppError } from '#shared/errors/app-error.ts'
import type { Refusal } from '#shared/net/refusal.ts'

/** Most that one capture may load. */
export type TrafficBounds = { readonly bytesMax: number; readonly connectionsMax: number }

/** Whose traffic it is, as egress is told. */
export type TrafficOf = {
  readonly id: string
  /** The caller's proxy, as the caller wrote it; undefined where egress connects to pages itself. */
  readonly proxy: string | undefined
}

/** What one capture loads: its connections, their bytes, and what egress refused it. */
export type Traffic = Disposable & {
  readonly of: TrafficOf
  /** Takes a connection into account until it closes; false, and it is cut, where the capture has had its share. */
  readonly admit: (connection: Duplex) => boolean
  /** Counts bytes of either direction; beyond the bound every connection is cut and `overrun` rejects. */
  readonly count: (bytes: number) => void
  readonly refuse: (host: string, refusal: Refusal) => void
  /** Why egress refused this host the last time, if it did. `host` as URLs write it, without a port. */
  readonly refusalOf: (host: string) => Refusal | undefined
  /** Rejects with `RENDER_ERROR` once more came in than one capture may load; never resolves. */
  readonly overrun: Promise<never>
}

/** Opens the account of one capture. Dispose cuts what is still connected. */
export const openTraffic = (of: TrafficOf, bounds: TrafficBounds): Traffic => {
  const open = new Set<Duplex>()
  const refused = new Map<string, Refusal>()
  const { promise: overrun, reject } = Promise.withResolvers<never>()
  overrun.catch(() => {})
  let connections = 0
  let bytes = 0
  const cut = () => {
    for (const connection of open) connection.destroy()
  }
  return {
    of,
    admit: (connection) => {
      if (open.has(connection)) return true
      connections += 1
      if (connections > bounds.connectionsMax || bytes > bounds.bytesMax) {
        connection.destroy()
        return false
      }
      open.add(connection)
      connection.once('close', () => open.delete(connection))
      return true
    },
    count: (more) => {
      bytes += more
      if (bytes <= bounds.bytesMax) return
      cut()
      const publicMessage = `The page loads more than the ${bounds.bytesMax} bytes that one capture may load.`
      reject(new AppError('RENDER_ERROR', { publicMessage }))
    },
    refuse: (host, refusal) => void refused.set(host, refusal),
    refusalOf: (host) => refused.get(host),
    overrun,
    [Symbol.dispose]: cut,
  }
}
