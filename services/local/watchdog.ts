import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { succeeds } from '#shared/process/succeeds.ts'

/** Reads whether a process answers; rejects where it does not, or when `signal` aborts. */
export type Probe = (signal: AbortSignal) => Promise<unknown>

/** Two probes in a row that fail are an event loop that has stood still for 10 s. */
const probeMs = 5000
const failuresMax = 2

/** A probe of a service's `/healthz`, which its event loop answers whatever else is wrong with it. */
export const healthProbe =
  (probeUrl: string): Probe =>
  async (signal) => {
    // A connection of its own: one that was kept may be closed by the service at the same moment.
    const [response] = await once(get(`${probeUrl}/healthz`, { agent: false, signal }), 'response', { signal })
    response.resume()
  }

/**
 * Resolves once `probe` has failed for 10 s, with the reason in words; rejects when `signal` aborts. It counts probes that
 * failed, not time that passed: a machine that was suspended makes one fail at most.
 */
export const untilUnresponsive = async (probe: Probe, signal: AbortSignal, everyMs = probeMs): Promise<string> => {
  for (let failures = 0; failures < failuresMax;) {
    const within = AbortSignal.any([signal, AbortSignal.timeout(everyMs)])
    const [answered] = await Promise.all([succeeds(probe(within)), sleep(everyMs, undefined, { signal })])
    failures = answered ? 0 : failures + 1
  }
  return `the event loop has not answered for ${(everyMs * failuresMax) / 1000} s`
}
