/** More headers than fit into the contract's bound on the head, so that only their size is limited. */
export const headersMax = 20_000

/** A connection without traffic is closed after this; longer than any wait for a capture. */
export const idleMs = 15 * 60_000

/** Bounds of a server for clients, in bytes and milliseconds, as Node names them. */
export const serverBounds = {
  /** Largest head that Node parses: above the contract's bound, so that an oversized head is rejected after the key check. */
  maxHeaderSize: 256 * 1024,
  headersTimeout: 15_000,
  /** Interval of the check for connections that exceed one of the time-outs. */
  connectionsCheckingInterval: 5000,
  requireHostHeader: false,
}

/** Long enough for the largest body at half a megabit per second. */
export const requestMs = 120_000
