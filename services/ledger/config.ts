import { type Env, readEnv, type ValuesOf } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { ledgerSettings } from '#shared/config/settings/ledger.ts'
import { databaseSettings, queueSettings, storageSettings } from '#shared/config/settings/outside.ts'

const settings = { ...commonSettings, ...databaseSettings, ...queueSettings, ...storageSettings, ...ledgerSettings }

/** What an operator can set of the ledger. */
export type Config = ValuesOf<typeof settings>

/** Reads the ledger's settings; throws `CONFIGURATION` with everything that is wrong with them. */
export const readConfig = (env: Env): Config => readEnv(settings, env)
