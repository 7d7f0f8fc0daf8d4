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

/** What one capture loads: its connections and their bytes, counted where no browser can reset them. */
export type CaptureTraffic = Disposable & {
  readonly of: TrafficOf
  /** Takes a connection into account until it closes; false where the capture has had its share. */
  readonly admit: (connection: Duplex) => boolean
  /** Resolves when it is a connection's turn; its place is free again once it closes. */
  readonly turn: (connection: Duplex) => Promise<void>
  /** Counts bytes of either direction; beyond the bound every connection is cut. */
  readonly count: (bytes: number) => void
  /** Whether the host lets the browser connect to `host`; it is queried until it has once. */
  readonly allows: (host: string) => Promise<boolean>
  readonly refuse: (host: string, refusal: Refusal) => Promise<unknown>
}

/** Opens the account of one capture. Dispose cuts what is still connected. */
export const openCaptureTraffic = (of: TrafficOf, bounds: TrafficBounds, owner: TrafficOwner): CaptureTraffic => {
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
    admit: (connection) => {
      connections += 1
      if (connections > bounds.connectionsMax || bytes > bounds.bytesMax) return false
      open.add(connection)
      connection.once('close', () => open.delete(connection))
      return true
    },
    turn: async (connection) => {
      if (concurrent >= concurrentMax) await new Promise<void>((free) => waiting.push(free))
      enter(connection)
    },
    count: (more) => {
      const before = bytes
      bytes += more
      if (bytes <= bounds.bytesMax) return
      cut()
      if (before <= bounds.bytesMax) owner.tooMuch()
    },
    allows: async (host) => {
      if (allowed.has(host)) return true
      const isAllowed = await owner.review(host)
      if (isAllowed) allowed.add(host)
      return isAllowed
    },
    refuse: (host, refusal) => owner.review(host, refusal),
    [Symbol.dispose]: cut,
  }
}
