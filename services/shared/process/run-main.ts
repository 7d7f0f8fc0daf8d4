import { writeFileSync } from 'node:fs'
import { errorToExitCode, toAppError } from '#shared/errors/app-error.ts'
import { startTracing } from '#shared/telemetry/tracing.ts'
import { readExtraCertificates } from '#shared/config/extra-certificates.ts'
import type { Env } from '#shared/config/read-env.ts'
import { closeInheritedDescriptors } from './close-inherited-descriptors.ts'
import { Rest } from './rest.ts'

/** Base addresses, without a trailing slash, that a service announces to its parent once it is up. */
export type Announcement = Readonly<Record<string, string>>

/** Process context of a service's main function. */
export type Life = {
  readonly env: Env
  /** Aborts on SIGTERM, SIGINT, or when the IPC channel to the parent closes. */
  readonly stop: AbortSignal
  /** Announces that the service is up: one JSON message on the parent's IPC channel, if there is one. Each later message reports activity. */
  readonly announce: (addresses: Announcement) => void
  /** The pace of what the service repeats. */
  readonly rest: Rest
  /** Whether spans are sent. */
  readonly hasTraces: boolean
}

/** Node's variable for certificate authorities that all connections of the process trust in addition to the built-in ones. */
const authoritiesVariable = 'NODE_EXTRA_CA_CERTS'

/** Kubernetes copies this file of a container into the status of its pod; it exists nowhere else. */
const terminationLog = '/dev/termination-log'

const reportToKubernetes = (message: string) => {
  try {
    writeFileSync(terminationLog, message, { flag: 'r+' })
  } catch {
    // The log has the message too.
  }
}

/** How long a process may continue after its service has ended. */
const lingerMs = 5000

/**
 * Runs a service until it ends by itself or is stopped, with tracing if the standard `OTEL_…` variables enable it.
 * An error becomes one line on standard error and the exit code of the catalogue, in a pod also its termination message if a setting is
 * wrong; a second stop signal ends the process at once.
 */
export const runMain = async (service: string, run: (life: Life) => Promise<void>): Promise<void> => {
  closeInheritedDescriptors()
  const stopping = new AbortController()
  const stop = () => {
    if (stopping.signal.aborted) process.kill(process.pid, 'SIGKILL')
    stopping.abort()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('disconnect', () => stopping.abort())
  try {
    // Node itself ignores an unreadable file, and each connection that needs it fails.
    await readExtraCertificates(process.env[authoritiesVariable] ?? '', authoritiesVariable)
    await using tracing = await startTracing(service, process.env)
    const rest = new Rest()
    await run({
      env: process.env,
      stop: stopping.signal,
      announce: (addresses) => {
        process.send?.(addresses)
        // Sending fails while the parent ends, which ends this process too.
        rest.onActivity(() => process.send?.('active', () => {}))
      },
      rest,
      hasTraces: tracing !== undefined,
    })
  } catch (thrown) {
    const error = toAppError(thrown)
    process.stderr.write(
      `${error.code === 'SERVER_ERROR' ? String((thrown as Error).stack ?? thrown) : error.message}\n`,
    )
    if (error.code === 'CONFIGURATION') reportToKubernetes(error.message)
    process.exitCode = errorToExitCode(error)
  }
  if (process.connected) process.disconnect()
  // A resource that still keeps the process alive was not closed; the process must not outlive its service.
  setTimeout(() => {
    process.stderr.write(`ended by force: ${process.getActiveResourcesInfo().join(', ')}\n`)
    process.kill(process.pid, 'SIGKILL')
  }, lingerMs).unref()
}

/** Resolves once the signal aborts. */
export const untilStopped = (stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stop.aborted) resolve()
    else stop.addEventListener('abort', () => resolve(), { once: true })
  })
