import { pause } from '#shared/process/pause.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { untilStopped } from '#shared/process/run-main.ts'

/** The refusal; undefined where the pepper is right. */
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
 * Compares the pepper with the database's. Throws `CONFIGURATION` where it is another. While the database is away the
 * service starts all the same, and the comparison is repeated every `everyMs` until `stop`.
 */
export const watchPepper = async (
  confirm: () => Promise<void>,
  { everyMs, stop }: { readonly everyMs: number; readonly stop: AbortSignal },
) => {
  let found = await compare(confirm)
  if (found instanceof AppError) throw found
  const follow = async () => {
    while (found === 'unknown' && !stop.aborted) {
      await pause(everyMs, stop)
      found = await compare(confirm)
    }
    if (found instanceof AppError) return found
    await untilStopped(stop)
    return undefined
  }
  return {
    /** Resolves with the refusal, or with undefined once the service is stopped. */
    refused: follow(),
  }
}
