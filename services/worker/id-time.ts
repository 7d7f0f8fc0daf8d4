/** A day; no wait is told to be longer. */
const longestMs = 86_400_000
const millisecondDigits = 12

/**
 * Milliseconds from when a capture was accepted until `nowMs`, since 1970. Its id, a UUID of version 7, begins with the
 * milliseconds since 1970 (RFC 9562, 5.7), by the gateway's clock: where ours is behind it is 0.
 */
export const sinceAcceptMs = (id: string, nowMs: number): number => {
  const acceptedMs = Number.parseInt(id.replaceAll('-', '').slice(0, millisecondDigits), 16)
  return Math.min(longestMs, Math.max(0, nowMs - acceptedMs))
}
