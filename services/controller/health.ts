import type { Health } from '#shared/telemetry/probe-server.ts'

/** A loop that has not turned for this long is stuck. */
const stuckAfterMs = 30_000

/** What one loop shows of itself. */
export type LoopFace = { readonly ready: boolean; readonly detail: Readonly<Record<string, string | number | boolean>> }

/** Says whether all loops of a controller turn, and shows what each showed last. */
export type LoopsHealth = {
  /** Adds a loop; what it answers is to be called at the end of each tick, with what is to be shown from then on. */
  readonly follow: () => (face?: LoopFace) => void
  readonly health: () => Health
}

/** Makes the health of a controller, which is ready once all its loops have shown that they are, and NATS is there. */
export const createLoopsHealth = (isConnected: () => boolean, now: () => number): LoopsHealth => {
  const loops: { turnedMs: number; face: LoopFace | undefined }[] = []
  return {
    follow: () => {
      const loop: (typeof loops)[number] = { turnedMs: now(), face: undefined }
      loops.push(loop)
      return (face) => {
        loop.turnedMs = now()
        loop.face = face ?? loop.face
      }
    },
    health: () => {
      const connected = isConnected()
      const detail = Object.assign({}, ...loops.map(({ face }) => face?.detail), { connected })
      return {
        live: loops.every(({ turnedMs }) => now() - turnedMs < stuckAfterMs),
        ready: connected && loops.every(({ face }) => face?.ready === true),
        detail: Object.fromEntries(Object.entries(detail).map(([key, value]) => [key, String(value)])),
      }
    },
  }
}
