import type { Health } from '#shared/telemetry/probe-server.ts'

/** A loop that has ended no tick for this long is stalled. */
const stalledAfterMs = 30_000

/** Readiness of one loop, and the detail that the probe shows of it. */
export type LoopStatus = {
  readonly ready: boolean
  readonly detail: Readonly<Record<string, string | number | boolean>>
}

/** Health of all loops of a controller. */
export type LoopsHealth = ReturnType<typeof createLoopsHealth>

/** Creates the health of a controller, which is ready while all its loops are and NATS is connected. */
export const createLoopsHealth = (isConnected: () => boolean, now: () => number) => {
  const loops: { turnedMs: number; status: LoopStatus | undefined }[] = []
  return {
    /** Adds a loop; the returned function is to be called at the end of each tick, with its status if that has changed. */
    follow: () => {
      const loop: (typeof loops)[number] = { turnedMs: now(), status: undefined }
      loops.push(loop)
      return (status?: LoopStatus): void => {
        loop.turnedMs = now()
        loop.status = status ?? loop.status
      }
    },
    health: (): Health => {
      const connected = isConnected()
      const detail = Object.assign({}, ...loops.map(({ status }) => status?.detail), { connected })
      return {
        live: loops.every(({ turnedMs }) => now() - turnedMs < stalledAfterMs),
        ready: connected && loops.every(({ status }) => status?.ready === true),
        detail: Object.fromEntries(Object.entries(detail).map(([key, value]) => [key, String(value)])),
      }
    },
  }
}
