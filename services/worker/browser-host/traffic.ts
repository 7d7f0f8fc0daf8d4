import type { Duplex } from 'node:stream'
import { AppError } from '#shared/errors/app-error.ts'
import type { Refusal, TargetRefusal } from '#shared/net/refusal.ts'

/** Most that one capture may load. */
export type TrafficBounds = { readonly bytesMax: number; readonly connectionsMax: number }

/** Whose traffic it is, as egress is told. */
export type TrafficOf = {
  readonly id: string
  /** The caller's proxy, as the caller wrote it; undefined where egress connects to pages itself. */
  readonly proxy: string | undefined
}

/** What one capture loads: its connections, their bytes, what egress refused it, and whether the way there failed. */
export type Traffic = Disposable & {
  readonly of: TrafficOf
  /** Takes a connection into account until it closes; false, and it is cut, where the capture has had its share. */
  readonly admit: (connection: Duplex) => boolean
  /** Counts bytes of either direction; beyond the bound every connection is cut and `cutShort` rejects. */
  readonly count: (bytes: number) => void
  /** Notes why egress refused a host, or that egress itself has a fault. */
  readonly refuse: (host: string, refusal: Refusal) => void
  /** Why egress refused this host the last time, if it did. `host` as URLs write it, without a port. */
  readonly refusalOf: (host: string) => TargetRefusal | undefined
  /** Notes that the way to egress failed a connection of the capture: what it shows from here on is not the page. */
  readonly interrupt: (reason: string) => void
  /** Why the way to egress failed the capture, if it did. */
  readonly interruption: () => string | undefined
  /** Rejects with `RENDER_ERROR` once more came in than one capture may load, with `SERVICE_UNAVAILABLE` once it is interrupted; never resolves. */
  readonly cutShort: Promise<never>
}

/** Opens the account of one capture. Dispose cuts what is still connected. */
export const openTraffic = (of: TrafficOf, bounds: TrafficBounds): Traffic => {
  const open = new Set<Duplex>()
  const refused = new Map<string, TargetRefusal>()
  const { promise: cutShort, reject } = Promise.withResolvers<never>()
  cutShort.catch(() => {})
  let interruption: string | undefined
  let connections = 0
  let bytes = 0
  const cut = () => {
    for (const connection of open) connection.destroy()
  }
  const interrupt = (reason: string) => {
    interruption ??= reason
    reject(new AppError('SERVICE_UNAVAILABLE', { message: reason }))
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
    refuse: (host, refusal) => {
      if (refusal === 'unavailable') interrupt('egress has a fault')
      else refused.set(host, refusal)
    },
    refusalOf: (host) => refused.get(host),
    interrupt,
    interruption: () => interruption,
    cutShort,
    [Symbol.dispose]: cut,
  }
}
