import { readEnv } from '#shared/config/read-env.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { clientSettings, localSettings } from '#shared/config/settings/local.ts'
import { databasePasswordSettings, databaseSettings } from '#shared/config/settings/outside.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import { confirmPepper } from '#shared/db/key-pepper.ts'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { createKey } from '#shared/db/keys.ts'
import { passwordSource } from '#shared/db/password.ts'
import { migrate, migrationStatementMs } from '#shared/db/migrate.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { runMain } from '#shared/process/run-main.ts'
import { createSignInLink } from '#shared/db/sign-in-links.ts'
import type { AnnouncedAccount, FirstAccount } from './prepare-database.ts'
import { firstPlan, readPlansFile } from './read-plans-file.ts'

const settings = {
  ...databasePasswordSettings,
  databaseUrl: databaseSettings.databaseUrl,
  keyPepper: gatewaySettings.keyPepper,
  storedKey: clientSettings.apiKey,
  plansFile: localSettings.plansFile,
}

/**
 * The account of `storedKey` if this database has the key, whatever its state is: restricted, revoked, of a disabled account. Else a
 * new account with a new key. Throws `CONFIGURATION` if the keys are hashed with another pepper.
 */
const findOrCreateAccount = async (database: Database, pepper: string, storedKey: string): Promise<FirstAccount> => {
  const [known] = await database.query<{ accountId: string }>(
    'select account_id as "accountId" from api_key where key_hash = $1',
    [createKeyHash(pepper)(storedKey)],
  )
  if (known) return { ...known, apiKey: storedKey }
  await confirmPepper(database, pepper)
  const { id } = await createAccount(database, { name: 'local', email: 'local@localhost', plan: firstPlan })
  const { key } = await createKey(database, { accountId: id, name: 'local', domains: [], pepper })
  return { accountId: id, apiKey: key }
}

// A separate process, so that the database client's memory is freed before anything else runs.
await runMain('prepare', async ({ env, announce }) => {
  const { databaseUrl, keyPepper, storedKey, plansFile, ...identity } = readEnv(settings, env)
  const password = passwordSource(identity)
  const plans = await readPlansFile(plansFile)
  await using database = openDatabase({ url: databaseUrl, password, poolMax: 2, statementMs: migrationStatementMs })
  await migrate(database)
  await replacePlans(database, plans)
  const account = await findOrCreateAccount(database, keyPepper, storedKey)
  const { token: signInToken } = await createSignInLink(database, { ...account, role: 'owner', pepper: keyPepper })
  announce({ ...account, signInToken } satisfies AnnouncedAccount)
})
