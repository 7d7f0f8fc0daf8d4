import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { ledgerSettings } from '#shared/config/settings/ledger.ts'
import { databaseSettings, queueSettings, storageSettings } from '#shared/config/settings/outside.ts'

const settings = { ...commonSettings, ...databaseSettings, ...queueSettings, ...storageSettings, ...ledgerSettings }

/** The settings of the ledger. */
export type Config = SettingValues<typeof settings>

/** Reads the settings of the ledger; throws `CONFIGURATION` that lists all problems. */
export const readConfig = (env: Env): Config => readEnv(settings, env)
