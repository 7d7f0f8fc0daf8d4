import { AppError } from '#shared/errors/app-error.ts'
import { trustAdvice } from '#shared/errors/untrusted-authority.ts'

/** SQLSTATEs of a rollback caused only by another transaction: an immediate retry may succeed. */
const repeatable = new Set(['40001', '40P01'])

/**
 * SQLSTATE of a statement whose function, or a type of it, was replaced by an upgrade: missing by name or by OID, or
 * changed. A retry finds the new one; a schema that is not migrated yet returns class 42 until it is.
 */
const replaced = /^(42...|XX000)$/

/** SQLSTATEs of a prepared statement rejected before execution: its name is unknown or taken, or its result types have changed. */
const unprepared = new Set(['26000', '42P05', '0A000'])

/**
 * SQLSTATE classes and codes of a server that is unavailable, shutting down, out of a resource, or too slow, or that does not accept
 * a password or certificate (28), as while it is replaced; `EACCES`: its file cannot be read.
 */
const unavailableClasses = new Set(['08', '28', '53', '58'])
const unavailableCodes = new Set(['57P01', '57P02', '57P03', '57P05', '57014', '55P03', '25P03', '25006', 'EACCES'])

/** Node's codes of a failed connection, and the client's messages for errors without a code. */
const socketCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT'])
const connectionWords = /connection (terminated|ended|timeout)|timeout (exceeded|expired)|read timeout|not queryable/i

const errorCode = (thrown: unknown): string => {
  const { code } = (thrown ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

/** Whether a transaction was rolled back because of another one, its `commit` included. */
export const isConflict = (thrown: unknown): boolean => repeatable.has(errorCode(thrown))

/** Only `ERROR`: `FATAL` and `PANIC` end the session, and whether the commit succeeded is unknown. */
const isReplaced = (thrown: unknown): boolean =>
  replaced.test(errorCode(thrown)) && (thrown as { severity?: unknown }).severity === 'ERROR'

/** Whether a transaction that failed with this error may be retried: a deadlock, a conflict or a replaced function rolled it back. */
export const isRepeatable = (thrown: unknown): boolean => isConflict(thrown) || isReplaced(thrown)

/** Whether an error of `Database` means that a statement took too long, or waited too long for a lock, and was rolled back. */
export const isTimeout = (thrown: unknown): boolean =>
  thrown instanceof AppError && ['57014', '55P03'].includes(errorCode(thrown.cause))

/** Whether an error of `Database` means that a statement waited too long for a lock, and was rolled back. */
export const isLockTimeout = (thrown: unknown): boolean =>
  thrown instanceof AppError && errorCode(thrown.cause) === '55P03'

/** Whether a statement was rejected before execution only because it was prepared. */
export const isUnprepared = (thrown: unknown): boolean => unprepared.has(errorCode(thrown))

/** Whether the client lost the connection, or gave up on a statement that the server may still run. */
export const isUnanswered = (thrown: unknown): boolean =>
  socketCodes.has(errorCode(thrown)) || (thrown instanceof Error && connectionWords.test(thrown.message))

const isUnavailable = (thrown: unknown): boolean => {
  const code = errorCode(thrown)
  if (repeatable.has(code) || unavailableCodes.has(code) || unavailableClasses.has(code.slice(0, 2))) return true
  return isReplaced(thrown) || isUnanswered(thrown)
}

/** A transaction pooler rejects session parameters; RDS Proxy says so in words of its own. */
const poolerAdvice = (thrown: unknown): string =>
  /unsupported startup parameter|RDS Proxy/.test(String(thrown))
    ? '; it is a pooler: SHUTTERFLEET_DATABASE_DIRECT_URL has to name PostgreSQL itself'
    : ''

/** Since PostgreSQL 15 only the owner of a database creates tables in its schema `public`. */
const ownerAdvice = (thrown: unknown): string =>
  errorCode(thrown) === '42501' && /for schema/.test(String(thrown))
    ? '; make its user the owner: ALTER DATABASE … OWNER TO …'
    : ''

/** What a caller reads whose account is being moved to another installation. */
export const movingMessage = 'The account is being moved to another database; retry.'

/** SQLSTATE of the SQL function `refuse_while_moving`. */
const movingCode = 'SFMOV'

/** Converts an error of PostgreSQL or its client: `SERVICE_UNAVAILABLE` if the server is unavailable or too slow, or the account is being moved, else `SERVER_ERROR`. */
export const classifyDatabaseError = (thrown: unknown): AppError => {
  if (thrown instanceof AppError) return thrown
  if (errorCode(thrown) === movingCode)
    return new AppError('SERVICE_UNAVAILABLE', { publicMessage: movingMessage, retryAfterSeconds: 1, cause: thrown })
  const advice = trustAdvice(thrown) + poolerAdvice(thrown) + ownerAdvice(thrown)
  const message = `PostgreSQL: ${thrown instanceof Error ? thrown.message : String(thrown)}${advice}`
  return new AppError(isUnavailable(thrown) ? 'SERVICE_UNAVAILABLE' : 'SERVER_ERROR', { message, cause: thrown })
}
