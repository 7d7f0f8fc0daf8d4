import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { databaseSettings, queueSettings, storageSettings } from '#shared/config/settings/outside.ts'

const settings = { ...commonSettings, ...databaseSettings, ...queueSettings, ...storageSettings, ...gatewaySettings }

/** The gateway's settings. */
export type Config = SettingValues<typeof settings>

/** Reads the gateway's settings; throws `CONFIGURATION` with all problems at once. */
export const readConfig = (env: Env): Config => readEnv(settings, env)
