import { once } from 'node:events'
import { statfs } from 'node:fs/promises'
import { get } from 'node:http'
import { connect } from 'node:net'
import { pause } from '#shared/process/pause.ts'
import type { Rest } from '#shared/process/rest.ts'
import { succeeds } from '#shared/process/succeeds.ts'

/** Sends one health check; rejects if the process does not respond, or when `signal` aborts. */
export type Probe = (signal: AbortSignal) => Promise<unknown>

const probeMs = 5000
/** Two consecutive failures mean that the event loop has been blocked for 10 s. */
const blockedAfter = 2
/** A busy machine slows a store down without harm, and its restart interrupts every service. */
const failedAfter = 4
/** Free space that a store needs to start: a segment of PostgreSQL's WAL. */
const startBytes = 16 * 1024 * 1024

/** Probes `/healthz`: of a service it responds as long as the event loop runs, of NATS it fails once a stream could not be written to. */
export const healthProbe =
  (probeUrl: string): Probe =>
  async (signal) => {
    // A new connection each time: the service may close a kept-alive one at the same moment.
    const [response] = await once(get(`${probeUrl}/healthz`, { agent: false, signal }), 'response', { signal })
    response.resume()
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
  }

/** The SSLRequest message, to which PostgreSQL responds before it authenticates. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Probes the PostgreSQL on a port of loopback, which responds unless it is frozen, even on a full disk. */
export const postgresProbe =
  (port: number): Probe =>
  async (signal) => {
    const socket = connect(port, '127.0.0.1')
    try {
      socket.write(sslRequest)
      await once(socket, 'data', { signal })
    } finally {
      socket.destroy()
    }
  }

/** Probes are 5 s apart, at rest longer; after one that failed they are not. */
type Pace = { readonly rest: Pick<Rest, 'wait'>; readonly everyMs?: number }

/**
 * Resolves once `probe` has failed `failuresMax` times in a row, and `mayEnd`; rejects when `signal` aborts. Counts failed
 * probes, not elapsed time: a suspend of the machine fails one probe at most.
 */
const untilFailing = async (
  probe: Probe,
  signal: AbortSignal,
  options: Required<Pace> & { readonly failuresMax: number; readonly mayEnd?: () => Promise<boolean> },
): Promise<void> => {
  const { everyMs, rest, failuresMax, mayEnd = async () => true } = options
  for (let failures = 0; failures < failuresMax || !(await mayEnd());) {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(everyMs)])
    const interval = pause(everyMs, signal)
    const responded = await succeeds(probe(deadline))
    failures = responded ? 0 : failures + 1
    await (responded ? rest.wait(everyMs, signal) : interval)
    signal.throwIfAborted()
  }
}

/** Resolves with the reason once a service has not responded for 10 s; rejects when `signal` aborts. */
export const untilUnresponsive = async (
  probe: Probe,
  signal: AbortSignal,
  { rest, everyMs = probeMs }: Pace,
): Promise<string> => {
  await untilFailing(probe, signal, { everyMs, rest, failuresMax: blockedAfter })
  return `the event loop has not responded for ${(everyMs * blockedAfter) / 1000} s`
}

/**
 * Resolves with the reason once a store in `folder` has failed for 20 s and its disk has space: a restart on a full one does
 * not help. Rejects when `signal` aborts.
 */
export const untilStoreFails = async (
  probe: Probe,
  { folder, rest, everyMs = probeMs }: Pace & { readonly folder: string },
  signal: AbortSignal,
): Promise<string> => {
  const hasSpace = async () => {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize >= startBytes
  }
  await untilFailing(probe, signal, { everyMs, rest, failuresMax: failedAfter, mayEnd: hasSpace })
  return `it has not responded or has rejected writes for ${(everyMs * failedAfter) / 1000} s`
}
