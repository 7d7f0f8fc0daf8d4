import type { Health } from '#shared/telemetry/probe-server.ts'

/** A loop that has not ended a tick for this long is stalled. */
const stalledAfterMs = 30_000

/** Readiness of one loop, and its part of the probe's detail. */
export type LoopStatus = {
  readonly ready: boolean
  readonly detail: Readonly<Record<string, string | number | boolean>>
}

/** Health of all loops of a controller. */
export type LoopsHealth = ReturnType<typeof createLoopsHealth>

/** Creates the health of a controller, which is ready while all its loops are and NATS is connected. */
export const createLoopsHealth = (isConnected: () => boolean, now: () => number) => {
  const loops: { lastTickMs: number; status: LoopStatus | undefined }[] = []
  return {
    /** Adds a loop. Call the returned function at the end of each tick, with the loop's status if it has changed. */
    follow: () => {
      const loop: (typeof loops)[number] = { lastTickMs: now(), status: undefined }
      loops.push(loop)
      return (status?: LoopStatus): void => {
        loop.lastTickMs = now()
        loop.status = status ?? loop.status
      }
    },
    health: (): Health => {
      const connected = isConnected()
      const detail = Object.assign({}, ...loops.map(({ status }) => status?.detail), { connected })
      return {
        live: loops.every(({ lastTickMs }) => now() - lastTickMs < stalledAfterMs),
        ready: connected && loops.every(({ status }) => status?.ready === true),
        detail: Object.fromEntries(Object.entries(detail).map(([key, value]) => [key, String(value)])),
      }
    },
  }
}
