import { findAccount } from './accounts.ts'
import { type Actor, noteChange } from './audit.ts'
import { changeCaptures } from './change-captures.ts'
import type { Database, Sql } from './connection.ts'
import { readStatement } from './read-statement.ts'

/** The captures of one account that have not ended, as JSON of the administration and the command line. */
export type AccountQueue = {
  readonly account_id: string
  readonly name: string
  /** Accepted and not begun. */
  readonly pending: number
  /** Begun and not ended. */
  readonly processing: number
}

const accountsMax = 1000
const batchCaptures = 500
/** Bound of one call, above the default waiting bound of any plan; a second call continues. */
const batchesMax = 100

const count = readStatement(import.meta.dirname, 'sql/count-queue.sql')

/** Counts the queued captures of each account, largest count first; at most 1,000 accounts, without empty ones. */
export const countQueue = (database: Sql): Promise<AccountQueue[]> => database.query(count, [accountsMax])

const canceled = { status: 'failed', code: 'JOB_FAILED', message: 'The capture was canceled by an operator.' } as const

const cancelSome = async (database: Database, accountId: string): Promise<number> => {
  const pending = await database.query<{ id: string }>(
    `select id from capture where account_id = $1 and status = 'pending' and follows is null limit $2`,
    [accountId, batchCaptures],
  )
  if (pending.length === 0) return 0
  const ids = pending.map(({ id }) => id)
  const { captures } = await changeCaptures(database, ids, ({ status, attempts, unendedStarts }) =>
    status === 'pending' ? { change: { attempts, unendedStarts, begins: false, end: canceled } } : {},
  )
  return captures.filter(({ ended }) => ended).length
}

/**
 * Cancels the captures of an account that have not begun, without charge: they fail with `JOB_FAILED`. The result of a worker
 * that still pulls one is ignored. Returns how many were canceled, at most 50,000. Throws `NOT_FOUND`.
 */
export const cancelPending = async (database: Database, accountId: string, actor: Actor): Promise<number> => {
  await database.entities((entities) => findAccount(entities, accountId))
  let captures = 0
  for (let batches = 0; batches < batchesMax; batches += 1) {
    const ended = await cancelSome(database, accountId)
    captures += ended
    if (ended === 0) break
  }
  await noteChange(database, { actor, action: 'queue.cancel', target: accountId, detail: { captures } })
  return captures
}
