/** Bounds of every HTTP server, in bytes and milliseconds, as Node names them. */
export const serverBounds = {
  /** Time for the head of a request; also until the first byte of a new connection. */
  headersTimeout: 15_000,
  /** Time for the whole request: the largest body, 7 MiB, at half a megabit per second. */
  requestTimeout: 120_000,
  /**
   * A connection without a request is closed after this. Longer than the 60 seconds for which load balancers keep connections by
   * default: one that sent a request just when its connection is closed would respond 502.
   */
  keepAliveTimeout: 72_000,
  /** Interval of the check for connections that exceed one of the time-outs. */
  connectionsCheckingInterval: 5000,
  /** Bytes of a body that are buffered before anybody reads it. */
  highWaterMark: 16 * 1024,
} as const

/** Connections of a server for few and known clients, such as probes and administrators. */
export const fewConnections = 256
