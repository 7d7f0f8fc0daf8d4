import { createAccount } from '#shared/db/accounts.ts'
import { checkRequest } from '#shared/db/check-request.ts'
import type { Database } from '#shared/db/connection.ts'
import { confirmPepper } from '#shared/db/key-pepper.ts'
import { createKey, hashKey } from '#shared/db/keys.ts'
import { firstPlan } from './read-plans-file.ts'

/** The account that `up` makes at the first start, and its API key. */
export type FirstAccount = { readonly accountId: string; readonly apiKey: string }

/** The account of `keptKey` where this database has the key, else a new account with a new key. Throws `CONFIGURATION` where its keys are hashed with another pepper. */
export const keepFirstAccount = async (database: Database, pepper: string, keptKey: string): Promise<FirstAccount> => {
  if (keptKey !== '') {
    const { caller } = await checkRequest(database, { keyHash: hashKey(pepper, keptKey), originHost: null })
    if (caller) return { accountId: caller.accountId, apiKey: keptKey }
  }
  await confirmPepper(database, pepper)
  const { id } = await createAccount(database, { name: 'local', email: 'local@localhost', plan: firstPlan })
  const { key } = await createKey(database, { accountId: id, name: 'local', domains: [], pepper })
  return { accountId: id, apiKey: key }
}
