import { readEnv } from '#shared/config/read-env.ts'
import { knownNames } from '#shared/config/settings/all.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { clientSettings, localSettings } from '#shared/config/settings/local.ts'
import { databaseSettings } from '#shared/config/settings/outside.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { migrate, migrationStatementMs } from '#shared/db/migrate.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { runMain } from '#shared/process/run-main.ts'
import { keepFirstAccount } from './keep-first-account.ts'
import { readPlansFile } from './read-plans-file.ts'

const settings = {
  databaseUrl: databaseSettings.databaseUrl,
  keyPepper: gatewaySettings.keyPepper,
  keptKey: clientSettings.apiKey,
  plansFile: localSettings.plansFile,
}

// A process of its own, so that the database client's memory is given back before anything else runs.
await runMain('prepare', async ({ env, announce }) => {
  const { databaseUrl, keyPepper, keptKey, plansFile } = readEnv(settings, env, knownNames)
  const plans = await readPlansFile(plansFile)
  await using database = openDatabase({ url: databaseUrl, poolMax: 2, statementMs: migrationStatementMs })
  await migrate(database)
  await replacePlans(database, plans)
  announce(await keepFirstAccount(database, keyPepper, keptKey))
})
