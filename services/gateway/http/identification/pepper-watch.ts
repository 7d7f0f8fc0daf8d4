import { pause } from '#shared/process/pause.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { untilStopped } from '#shared/process/run-main.ts'

/** The error if the pepper differs; undefined if it matches; `unknown` if the database could not be read. */
const compare = async (confirm: () => Promise<void>): Promise<AppError | 'unknown' | undefined> => {
  try {
    await confirm()
    return undefined
  } catch (thrown) {
    const error = toAppError(thrown)
    return error.code === 'CONFIGURATION' ? error : 'unknown'
  }
}

/**
 * Compares the pepper with the database's. Throws `CONFIGURATION` if they differ. If the database is unavailable the service
 * starts anyway, and the comparison is retried every `everyMs` until `stop`.
 */
export const watchPepper = async (
  confirm: () => Promise<void>,
  { everyMs, stop }: { readonly everyMs: number; readonly stop: AbortSignal },
) => {
  let found = await compare(confirm)
  if (found instanceof AppError) throw found
  const retryUntilRead = async () => {
    while (found === 'unknown' && !stop.aborted) {
      await pause(everyMs, stop)
      found = await compare(confirm)
    }
    if (found instanceof AppError) return found
    await untilStopped(stop)
    return undefined
  }
  return {
    /** Resolves with the error if the pepper differs, or with undefined once the service is stopped. */
    mismatch: retryUntilRead(),
  }
}
