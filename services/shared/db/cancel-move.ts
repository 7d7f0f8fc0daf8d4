import { AppError } from '#shared/errors/app-error.ts'
import { findAccount } from './accounts.ts'
import type { Actor } from './audit.ts'
import type { Database } from './connection.ts'
import { findDeparture, presenceOf, refuse, releaseAccount, removeCopy, withdrawCopy } from './move-account.ts'

/** For an account that was moved away, or has not arrived. Throws `NOT_FOUND`. */
export const refuseAway = (id: string): never => {
  const publicMessage = `account ${id} is not here: it was moved away, or has not wholly arrived`
  throw new AppError('NOT_FOUND', { publicMessage })
}

/** For an account that is leaving for an installation which does not have its copy. Throws `VALIDATION_ERROR`. */
export const refuseOtherCell = (id: string): never =>
  refuse(
    `account ${id} was leaving for another cell: name that one; only if it is lost for ever, or no other cell shows the account, serve it here again by 'account enable' with --force`,
  )

/**
 * Ends a move whose command was killed or hangs: the account stays, and no copy is left where it would have gone. Throws `NOT_FOUND` if it
 * is not here, `VALIDATION_ERROR` if it has arrived there, or was leaving for another installation.
 */
export const cancelMove = async (from: Database, to: Database, id: string, actor: Actor): Promise<void> => {
  await from.entities((entities) => findAccount(entities, id))
  if ((await presenceOf(from, id)) === 'away') refuseAway(id)
  const departure = await findDeparture(from, id)
  // Before the release: the copy cannot arrive any more.
  if (departure && !(await withdrawCopy(to, departure))) refuseOtherCell(id)
  await releaseAccount(from, departure ?? { id }, actor)
  // One of any hold: the account has not left for it.
  if (!departure) await to.transaction((target) => removeCopy(target, id))
}
