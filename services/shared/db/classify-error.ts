import { AppError } from '#shared/errors/app-error.ts'
import { trustAdvice } from '#shared/errors/untrusted-authority.ts'

/** What PostgreSQL rolled back only because of another transaction: the same statements may succeed at once. */
const repeatable = new Set(['40001', '40P01'])

/**
 * What PostgreSQL says where a function, or a type of one, was replaced under a statement, as an upgrade does: that it is gone,
 * by name or by number, or not as it was. Nothing else of ours meets class 42 (rule violation) or XX000 (internal error), and
 * the same statement finds the new one.
 */
const replaced = /^(42...|XX000)$/

/** What PostgreSQL says of a prepared statement before it does anything: it has none, has another, or its columns' types have changed. */
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

/** Whether a transaction that met this error may simply be run again: it was rolled back whole, by deadlock, by conflict, or for a function that was replaced meanwhile. */
export const isRepeatable = (thrown: unknown): boolean =>
  repeatable.has(codeOf(thrown)) || replaced.test(codeOf(thrown))

/** Whether a prepared statement was refused for being one; nothing was done. */
export const isUnprepared = (thrown: unknown): boolean => unprepared.has(codeOf(thrown))

const isUnavailable = (thrown: unknown): boolean => {
  const code = codeOf(thrown)
  if (repeatable.has(code) || unavailableCodes.has(code) || unavailableClasses.has(code.slice(0, 2))) return true
  return socketCodes.has(code) || (thrown instanceof Error && connectionWords.test(thrown.message))
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
