import { serverBounds } from '#shared/config/server-bounds.ts'

/** More headers than fit into the contract's bound on the head, so that only their size is limited. */
export const headersMax = 20_000

/** A connection without traffic is closed after this; longer than any wait for a capture. */
export const idleMs = 15 * 60_000

/** Bounds of a server for clients, in bytes and milliseconds, as Node names them. */
export const serverOptions = {
  ...serverBounds,
  /** Largest head that Node parses: above the contract's bound of 64 KiB, so that an oversized head is rejected after the key check. */
  maxHeaderSize: 80 * 1024,
  requireHostHeader: false,
} as const

/** The same for the framework, which sets some of them itself. */
export const frameworkOptions = {
  requestTimeout: serverBounds.requestTimeout,
  keepAliveTimeout: serverBounds.keepAliveTimeout,
  connectionTimeout: idleMs,
  http: serverOptions,
} as const
