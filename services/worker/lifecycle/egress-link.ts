import { setTimeout as delay } from 'node:timers/promises'
import { toAppError } from '#shared/errors/app-error.ts'
import { checkEgress } from '#shared/net/check-egress.ts'
import { type EgressWatch, watchEgress } from '#shared/net/watch-egress.ts'
import { untilStopped } from '#shared/process/run-main.ts'
import type { EgressEndpoint } from '#worker/network/request-tunnel.ts'
import type { PullGate } from './pull-gate.ts'

const retryMs = 1000

/**
 * Watches egress until disposed. Holds the worker until egress passes `checkEgress`, at the start and each time the watch
 * ends; checks are a second apart.
 */
export const linkEgress = ({ egress, egressToken }: EgressEndpoint, holds: Pick<PullGate, 'hold' | 'release'>) => {
  const disposal = new AbortController()
  let outages = 0
  let watch: EgressWatch | undefined

  /** Resolves when egress becomes unreachable, with the reason. */
  const watchOnce = async (): Promise<string> => {
    try {
      await checkEgress(egress, egressToken)
      using opened = await watchEgress(egress, { token: egressToken })
      watch = opened
      holds.release('egress')
      await untilStopped(AbortSignal.any([opened.ended, disposal.signal]))
      return 'the connection to egress has ended'
    } catch (thrown) {
      return toAppError(thrown).message
    } finally {
      watch = undefined
    }
  }
  const keepWatching = async () => {
    while (!disposal.signal.aborted) {
      const reason = await watchOnce()
      if (disposal.signal.aborted) return
      outages += 1
      holds.hold('egress', reason)
      await delay(retryMs, undefined, { signal: disposal.signal }).catch(() => {})
    }
  }
  void keepWatching()
  return {
    /** Outages so far; the argument of `isUpSince`. */
    outages: (): number => outages,
    /**
     * Whether egress is up and there was no outage since the count of outages was `before`. `failed`: a connection to egress
     * failed, so egress is checked too; a failed check does not change the result, but ends the watch and holds the worker.
     */
    isUpSince: async (before: number, failed: boolean): Promise<boolean> => {
      const current = watch
      if (outages !== before || current === undefined || !(await current.ping())) return false
      if (failed) await checkEgress(egress, egressToken).catch(() => current[Symbol.dispose]())
      return true
    },
    [Symbol.dispose]: () => disposal.abort(),
  }
}

/** The worker's link to egress. While egress is unreachable, or refuses connections, the worker takes no capture. */
export type EgressLink = Readonly<ReturnType<typeof linkEgress>>
