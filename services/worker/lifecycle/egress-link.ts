import { setTimeout as delay } from 'node:timers/promises'
import { toAppError } from '#shared/errors/app-error.ts'
import { checkEgress } from '#shared/net/check-egress.ts'
import { type EgressWatch, watchEgress } from '#shared/net/watch-egress.ts'
import { untilStopped } from '#shared/process/run-main.ts'
import type { EgressEndpoint } from '#worker/network/request-tunnel.ts'
import type { PullGate } from './pull-gate.ts'

const retryMs = 1000

/**
 * Watches egress until disposed, and holds the worker until egress passes `checkEgress`, at the start and whenever the
 * watch has ended; a second between checks.
 */
export const linkEgress = ({ egress, egressToken }: EgressEndpoint, holds: Pick<PullGate, 'hold' | 'release'>) => {
  const over = new AbortController()
  let outages = 0
  let watch: EgressWatch | undefined

  /** Resolves when egress becomes unreachable, with the reason. */
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
      outages += 1
      holds.hold('egress', reason)
      await delay(retryMs, undefined, { signal: over.signal }).catch(() => {})
    }
  }
  void keep()
  return {
    /** Outages so far; the argument of `isUpSince`. */
    outages: (): number => outages,
    /**
     * Whether egress has been up without an outage since there were `outages`, and is now. Where a connection to it `failed`
     * it counts as up all the same, but the worker takes no capture before egress accepts and judges a new one.
     */
    isUpSince: async (before: number, failed: boolean): Promise<boolean> => {
      const current = watch
      if (outages !== before || current === undefined || !(await current.ping())) return false
      if (failed) await checkEgress(egress, egressToken).catch(() => current[Symbol.dispose]())
      return true
    },
    [Symbol.dispose]: () => over.abort(),
  }
}

/** The worker's link to egress. While egress is unreachable, or refuses connections, the worker takes no capture. */
export type EgressLink = Readonly<ReturnType<typeof linkEgress>>
