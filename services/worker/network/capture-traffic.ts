import type { Duplex } from 'node:stream'
import type { Refusal } from '#shared/net/refusal.ts'
import type { TrafficOf } from './request-tunnel.ts'

/** Most that one capture may load. */
export type TrafficBounds = { readonly bytesMax: number; readonly connectionsMax: number }

/**
 * Most connections to egress that one capture has at one time; further ones wait for one of them to close. Chromium opens at most
 * 32 to a proxy, and as many WebSockets.
 */
const concurrentMax = 64

/** The browser host, which decides what its capture blocks, and gets refusals before the browser does. */
export type TrafficOwner = {
  /** Whether a connection to `host` may be made; notes the refusal where there is one. Resolves once the host has it. */
  readonly review: (host: string, refusal?: Refusal) => Promise<boolean>
  /** Called once more came in than one capture may load. */
  readonly tooMuch: () => void
}

/** Opens the account of what one capture loads, kept where no browser can reset it. Dispose cuts what is still connected. */
export const openCaptureTraffic = (of: TrafficOf, bounds: TrafficBounds, owner: TrafficOwner) => {
  const open = new Set<Duplex>()
  const allowed = new Set<string>()
  const waiting: (() => void)[] = []
  let connections = 0
  let concurrent = 0
  let bytes = 0
  const leave = () => {
    concurrent -= 1
    waiting.shift()?.()
  }
  const enter = (connection: Duplex) => {
    concurrent += 1
    if (connection.closed) leave()
    else connection.once('close', leave)
  }
  const cut = () => {
    for (const connection of open) connection.destroy()
  }
  return {
    of,
    /** Takes a connection into account until it closes; false where the capture has had its share. */
    admit: (connection: Duplex): boolean => {
      connections += 1
      if (connections > bounds.connectionsMax || bytes > bounds.bytesMax) return false
      open.add(connection)
      connection.once('close', () => open.delete(connection))
      return true
    },
    /** Resolves when it is a connection's turn; its place is free again once it closes. */
    turn: async (connection: Duplex): Promise<void> => {
      if (concurrent >= concurrentMax) await new Promise<void>((free) => waiting.push(free))
      enter(connection)
    },
    /** Counts bytes of either direction; beyond the bound every connection is cut. */
    count: (more: number): void => {
      const before = bytes
      bytes += more
      if (bytes <= bounds.bytesMax) return
      cut()
      if (before <= bounds.bytesMax) owner.tooMuch()
    },
    /** Whether the host lets the browser connect to `host`; it is queried until it has once. */
    allows: async (host: string): Promise<boolean> => {
      if (allowed.has(host)) return true
      const isAllowed = await owner.review(host)
      if (isAllowed) allowed.add(host)
      return isAllowed
    },
    refuse: (host: string, refusal: Refusal) => owner.review(host, refusal),
    [Symbol.dispose]: cut,
  }
}

/** See `openCaptureTraffic`. */
export type CaptureTraffic = ReturnType<typeof openCaptureTraffic>
