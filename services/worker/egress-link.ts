import { toAppError } from '#shared/errors/app-error.ts'
import { checkEgress } from '#shared/net/check-egress.ts'
import { type EgressWatch, watchEgress } from '#shared/net/watch-egress.ts'
import { pause } from './pause.ts'
import { untilStopped } from '#shared/process/run-main.ts'
import type { EgressWay } from './network/request-tunnel.ts'
import type { PullGate } from './pull-gate.ts'

const retryMs = 1000

/** What a worker knows of the filter behind its browsers. While the filter is away, or refuses connections, the worker takes no capture. */
export type EgressLink = Disposable & {
  /** How often the filter went away so far; to be given to `stoodSince`. */
  readonly breaks: () => number
  /**
   * Whether the filter has stood without a break since there were `breaks`, and does so now. Where a connection to it
   * `failed` it stands all the same, but the worker takes nothing more before the filter takes and judges a new one.
   */
  readonly stoodSince: (breaks: number, failed: boolean) => Promise<boolean>
}

/**
 * Keeps a watch on the filter until disposed, and holds the worker from taking captures until the filter passes
 * `checkEgress`, at the start and whenever the watch has ended; checks come a second apart.
 */
export const linkEgress = (
  { egress, egressToken }: EgressWay,
  holds: Pick<PullGate, 'hold' | 'release'>,
): EgressLink => {
  const over = new AbortController()
  let breaks = 0
  let watch: EgressWatch | undefined

  /** Stands by the filter until it goes away; answers why. */
  const stand = async (): Promise<string> => {
    try {
      await checkEgress(egress, egressToken)
      using opened = await watchEgress(egress, { token: egressToken })
      watch = opened
      holds.release('egress')
      await untilStopped(AbortSignal.any([opened.ended, over.signal]))
      return 'the connection to egress has ended'
    } catch (thrown) {
      return toAppError(thrown).message
    } finally {
      watch = undefined
    }
  }
  const keep = async () => {
    while (!over.signal.aborted) {
      const reason = await stand()
      if (over.signal.aborted) return
      breaks += 1
      holds.hold('egress', reason)
      await pause(retryMs, over.signal)
    }
  }
  void keep()
  return {
    breaks: () => breaks,
    stoodSince: async (before, failed) => {
      const current = watch
      if (breaks !== before || current === undefined || !(await current.ping())) return false
      if (failed) await checkEgress(egress, egressToken).catch(() => current[Symbol.dispose]())
      return true
    },
    [Symbol.dispose]: () => over.abort(),
  }
}
