import { setTimeout as delay } from 'node:timers/promises'
import { readPlansFile } from '#local/read-plans-file.ts'
import { readEnv } from '#shared/config/read-env.ts'
import { localSettings } from '#shared/config/settings/local.ts'
import { checkConnectionLimit } from '#shared/db/connection-limit.ts'
import type { Database } from '#shared/db/connection.ts'
import { migrate, migrationStatementMs } from '#shared/db/migrate.ts'
import { grantToServices } from '#shared/db/service-roles.ts'
import { listPlans, replacePlans } from '#shared/db/plans.ts'
import { type Command, dataFlag, flagText } from './command/command.ts'
import { readDuration } from './command/duration.ts'
import { withDatabase } from './with-database.ts'

const pingMs = 2000
const pauseMs = 500

/** Waits at most `waitMs` for PostgreSQL; does not throw then, the next query does. */
const waitForDatabase = async (database: Database, waitMs: number, stop: AbortSignal): Promise<void> => {
  const end = performance.now() + waitMs
  while (!stop.aborted && performance.now() < end && !(await database.ping(pingMs))) await delay(pauseMs)
}

/** `migrate`: migrates the database to this version's schema; loads the given plans, or the default ones if it has none. */
export const migrateDatabase: Command = {
  usage: 'migrate [--wait TIME] [--data DIR]',
  summary: "migrates the database to this version's schema",
  json: '{ applied }',
  flags: {
    wait: { type: 'string', value: 'TIME', help: 'how long to wait for PostgreSQL to answer, such as 5m (default 0s)' },
    data: dataFlag,
  },
  run: async ({ env, stop, print }, args) => {
    const { plansFile, databaseRoles, databaseConnections } = localSettings
    const settings = readEnv({ plansFile, databaseRoles, databaseConnections }, env)
    const plans = await readPlansFile(settings.plansFile)
    const wait = flagText(args, 'wait')
    const migrateAndLoadPlans = async (database: Database) => {
      if (wait !== undefined) await waitForDatabase(database, readDuration('wait', wait), stop)
      await checkConnectionLimit(database, settings.databaseConnections)
      const names = await migrate(database)
      await database.transaction((sql) => grantToServices(sql, settings.databaseRoles))
      if (settings.plansFile !== '' || (await listPlans(database)).length === 0) await replacePlans(database, plans)
      return names
    }
    const applied = await withDatabase(env, args, migrateAndLoadPlans, { statementMs: migrationStatementMs })
    print({
      json: { applied },
      text: applied.length === 0 ? 'the database is up to date' : `applied: ${applied.join(', ')}`,
    })
  },
}
