import { AppError } from '#shared/errors/app-error.ts'
import { trustAdvice } from '#shared/errors/untrusted-authority.ts'

/** What PostgreSQL rolled back only because of another transaction: the same statements may succeed at once. */
const repeatable = new Set(['40001', '40P01'])

/**
 * SQLSTATE of a statement whose function, or a type of it, was replaced meanwhile, as an upgrade does: it is gone, by name or by
 * number, or not as it was. The same statement finds the new one; a schema that is not migrated yet gives class 42 until it is.
 */
const replaced = /^(42...|XX000)$/

/** Codes of a prepared statement that PostgreSQL refuses before it does anything: it has none, has another, or its columns' types have changed. */
const unprepared = new Set(['26000', '42P05', '0A000'])

/** SQLSTATE classes and codes of a server that is away, going away, out of something, or too slow. */
const unavailableClasses = new Set(['08', '53', '58'])
const unavailableCodes = new Set(['57P01', '57P02', '57P03', '57P05', '57014', '55P03', '25P03', '25006'])

/** Node's own codes of a connection that failed, and the client's words for it where it gives no code. */
const socketCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT'])
const connectionWords = /connection (terminated|ended|timeout)|timeout (exceeded|expired)|read timeout|not queryable/i

const codeOf = (thrown: unknown): string => {
  const { code } = (thrown ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

/** Whether a transaction was rolled back for another one, be it in its `commit`. */
export const isConflict = (thrown: unknown): boolean => repeatable.has(codeOf(thrown))

/** `FATAL` or `PANIC` ends the session, and what was committed is not known. */
const isReplaced = (thrown: unknown): boolean =>
  replaced.test(codeOf(thrown)) && (thrown as { severity?: unknown }).severity === 'ERROR'

/** Whether a transaction that met this error may simply be run again: it was rolled back whole, by deadlock, by conflict, or for a function that was replaced meanwhile. */
export const isRepeatable = (thrown: unknown): boolean => isConflict(thrown) || isReplaced(thrown)

/** Whether a prepared statement was refused for being one; nothing was done. */
export const isUnprepared = (thrown: unknown): boolean => unprepared.has(codeOf(thrown))

/** Whether the client lost the connection, or gave up on a statement that the server may still run. */
export const isUnanswered = (thrown: unknown): boolean =>
  socketCodes.has(codeOf(thrown)) || (thrown instanceof Error && connectionWords.test(thrown.message))

const isUnavailable = (thrown: unknown): boolean => {
  const code = codeOf(thrown)
  if (repeatable.has(code) || unavailableCodes.has(code) || unavailableClasses.has(code.slice(0, 2))) return true
  return isReplaced(thrown) || isUnanswered(thrown)
}

/** A pooler of transactions takes no bounds for a session. */
const poolerAdvice = (thrown: unknown): string =>
  /unsupported startup parameter/.test(String(thrown))
    ? '; it is a pooler: SHUTTERFLEET_DATABASE_DIRECT_URL has to name PostgreSQL itself'
    : ''

/** Makes an AppError of what PostgreSQL or its client threw: `SERVICE_UNAVAILABLE` where it is away or too slow, else `SERVER_ERROR`. */
export const classifyDatabaseError = (thrown: unknown): AppError => {
  if (thrown instanceof AppError) return thrown
  const advice = trustAdvice(thrown) + poolerAdvice(thrown)
  const message = `PostgreSQL: ${thrown instanceof Error ? thrown.message : String(thrown)}${advice}`
  return new AppError(isUnavailable(thrown) ? 'SERVICE_UNAVAILABLE' : 'SERVER_ERROR', { message, cause: thrown })
}
