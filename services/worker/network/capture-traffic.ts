import type { Duplex } from 'node:stream'
import type { Refusal } from '#shared/net/refusal.ts'
import type { EgressCapture } from './request-tunnel.ts'

/** Bounds on the total traffic of one capture. */
export type TrafficBounds = { readonly bytesMax: number; readonly connectionsMax: number }

/**
 * Most concurrent connections of one capture to egress; further ones wait until one closes. Chromium opens at most 32 to a
 * proxy, and as many WebSockets.
 */
const concurrentMax = 64

/** Traffic above the bound of a capture at which its connections are closed even if the browser host has not recorded it. */
const unrecordedBytesMax = 16 * 2 ** 20

/** The browser host, which decides what its capture blocks, and records why connections fail before the browser notices. */
export type TrafficOwner = {
  /** Resolves to whether a connection to `host` is allowed, once the browser host has recorded the refusal, if any. */
  readonly review: (host: string, refusal?: Refusal) => Promise<boolean>
  /** Called once, when the traffic of the capture has exceeded `bytesMax`; resolves once the browser host has recorded it. */
  readonly recordByteLimit: () => Promise<unknown>
}

/** Counts and bounds the traffic of one capture, where no browser can reset the count. Dispose closes all open connections. */
export const openCaptureTraffic = (capture: EgressCapture, bounds: TrafficBounds, owner: TrafficOwner) => {
  const open = new Set<Duplex>()
  const allowed = new Set<string>()
  const waiting: (() => void)[] = []
  let connections = 0
  let concurrent = 0
  let bytes = 0
  const release = () => {
    concurrent -= 1
    waiting.shift()?.()
  }
  const closeAll = () => {
    for (const connection of open) connection.destroy()
  }
  return {
    capture,
    /** Counts a connection; false if the capture has reached a bound. */
    admit: (connection: Duplex): boolean => {
      connections += 1
      if (connections > bounds.connectionsMax || bytes > bounds.bytesMax) return false
      open.add(connection)
      connection.once('close', () => open.delete(connection))
      return true
    },
    /** Resolves when a connection may be made to egress, first come, first served; its close releases the permit. */
    acquire: async (connection: Duplex): Promise<void> => {
      if (concurrent >= concurrentMax) await new Promise<void>((resolve) => waiting.push(resolve))
      concurrent += 1
      if (connection.closed) release()
      else connection.once('close', release)
    },
    /** Counts bytes of either direction; above the bound all connections are closed, once the owner has recorded it. */
    count: (more: number): void => {
      const before = bytes
      bytes += more
      if (bytes <= bounds.bytesMax) return
      if (before <= bounds.bytesMax) void owner.recordByteLimit().then(closeAll)
      if (bytes > bounds.bytesMax + unrecordedBytesMax) closeAll()
    },
    /** Whether the browser host allows connections to `host`; only an approval is remembered. */
    allows: async (host: string): Promise<boolean> => {
      if (allowed.has(host)) return true
      const isAllowed = await owner.review(host)
      if (isAllowed) allowed.add(host)
      return isAllowed
    },
    reportRefusal: (host: string, refusal: Refusal) => owner.review(host, refusal),
    [Symbol.dispose]: closeAll,
  }
}

/** See `openCaptureTraffic`. */
export type CaptureTraffic = ReturnType<typeof openCaptureTraffic>
