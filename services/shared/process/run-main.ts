import { errorToExitCode, toAppError } from '#shared/errors/app-error.ts'
import { startTracing } from '#shared/telemetry/tracing.ts'
import { readExtraCertificates } from '#shared/config/extra-certificates.ts'
import type { Env } from '#shared/config/read-env.ts'

/** Addresses that a service announces to its parent once it is up; all are base addresses without a trailing slash. */
export type Announcement = Readonly<Record<string, string>>

/** What a service's main function gets from its process. */
export type Life = {
  readonly env: Env
  /** Aborts on SIGTERM, SIGINT, or when the parent that opened an IPC channel goes away. */
  readonly stop: AbortSignal
  /** Announces that the service is up: one line of JSON to the parent's IPC channel, where there is one. */
  readonly announce: (addresses: Announcement) => void
}

/** Node's own: certificates of authorities that all connections of the process trust beside the usual ones. */
const authoritiesVariable = 'NODE_EXTRA_CA_CERTS'

/** How long a process may live on after its service has ended. */
const lingerMs = 5000

/**
 * Runs a service until it ends by itself or is stopped, with tracing where the standard `OTEL_…` variables enable it.
 * An error becomes one line on standard error and the exit code of the catalogue; a second stop signal ends the process at once.
 */
export const runMain = async (service: string, run: (life: Life) => Promise<void>): Promise<void> => {
  const stopping = new AbortController()
  const stop = () => {
    if (stopping.signal.aborted) process.kill(process.pid, 'SIGKILL')
    stopping.abort()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('disconnect', () => stopping.abort())
  try {
    // Node itself goes on without the file, and each connection that needs it fails.
    await readExtraCertificates(process.env[authoritiesVariable] ?? '', authoritiesVariable)
    await using _tracing = await startTracing(service, process.env)
    await run({
      env: process.env,
      stop: stopping.signal,
      announce: (addresses) => process.send?.(addresses),
    })
  } catch (thrown) {
    const error = toAppError(thrown)
    process.stderr.write(
      `${error.code === 'SERVER_ERROR' ? String((thrown as Error).stack ?? thrown) : error.message}\n`,
    )
    process.exitCode = errorToExitCode(error)
  }
  if (process.connected) process.disconnect()
  // Whatever still holds the process now was forgotten; it must not outlive its service.
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
