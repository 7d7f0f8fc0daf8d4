import { readPlansFile } from '#local/read-plans-file.ts'
import { readEnv } from '#shared/config/read-env.ts'
import { knownNames } from '#shared/config/settings/all.ts'
import { localSettings } from '#shared/config/settings/local.ts'
import type { Database } from '#shared/db/connection.ts'
import { migrate, migrationStatementMs } from '#shared/db/migrate.ts'
import { listPlanSlugs, replacePlans } from '#shared/db/plans.ts'
import { type Command, dataFlag } from './command.ts'
import { withDatabase } from './with-database.ts'

/** `migrate`: brings the database to this version's schema, and puts the plans in force that it is told or that it lacks. */
export const migrateDatabase: Command = {
  usage: 'migrate [--data DIR]',
  summary: "brings the database to this version's schema",
  flags: { data: dataFlag },
  operands: [],
  run: async ({ env, print }, typed) => {
    const { plansFile } = readEnv({ plansFile: localSettings.plansFile }, env, knownNames)
    const plans = await readPlansFile(plansFile)
    const bring = async (database: Database) => {
      const names = await migrate(database)
      if (plansFile !== '' || (await listPlanSlugs(database)).length === 0) await replacePlans(database, plans)
      return names
    }
    const applied = await withDatabase(env, typed, bring, { statementMs: migrationStatementMs })
    print({
      json: { applied },
      text: applied.length === 0 ? 'the database is up to date' : `applied: ${applied.join(', ')}`,
    })
  },
}
