import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { succeeds } from '#shared/process/succeeds.ts'

/** Sends one health check; rejects if the process does not respond, or when `signal` aborts. */
export type Probe = (signal: AbortSignal) => Promise<unknown>

/** Two consecutive failures mean that the event loop has been blocked for 10 s. */
const probeMs = 5000
const failuresMax = 2

/** Probes `/healthz`, which responds as long as the event loop runs. */
export const healthProbe =
  (probeUrl: string): Probe =>
  async (signal) => {
    // A new connection each time: the service may close a kept-alive one at the same moment.
    const [response] = await once(get(`${probeUrl}/healthz`, { agent: false, signal }), 'response', { signal })
    response.resume()
  }

/**
 * Resolves with the reason once `probe` has failed for 10 s; rejects when `signal` aborts. Counts failed probes, not
 * elapsed time: a suspend of the machine fails one probe at most.
 */
export const untilUnresponsive = async (probe: Probe, signal: AbortSignal, everyMs = probeMs): Promise<string> => {
  for (let failures = 0; failures < failuresMax;) {
    const within = AbortSignal.any([signal, AbortSignal.timeout(everyMs)])
    const [responded] = await Promise.all([succeeds(probe(within)), sleep(everyMs, undefined, { signal })])
    failures = responded ? 0 : failures + 1
  }
  return `the event loop has not answered for ${(everyMs * failuresMax) / 1000} s`
}
