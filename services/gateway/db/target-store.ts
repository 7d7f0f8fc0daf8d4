import { readTargets, setTargets } from '#shared/db/account-targets.ts'
import type { Actor } from '#shared/db/audit.ts'
import type { Database } from '#shared/db/connection.ts'
import type { TargetTexts } from '#shared/policy/target-lists.ts'

/** The lists of targets of accounts, for their own requests. */
export type TargetStore = ReturnType<typeof targetStoreIn>

/** See `TargetStore`. */
export const targetStoreIn = (database: Database) => ({
  /** The lists of an account, in normal form. */
  read: (accountId: string): Promise<TargetTexts> => readTargets(database, accountId),
  /** Replaces both lists. Throws as `setTargets`. */
  replace: (accountId: string, texts: TargetTexts, actor: Actor): Promise<TargetTexts> =>
    setTargets(database, accountId, texts, actor),
})
