import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { databaseSettings, storageSettings, trustSettings } from '#shared/config/settings/outside.ts'
import { webhookSettings } from '#shared/config/settings/webhooks.ts'

const settings = { ...commonSettings, ...databaseSettings, ...storageSettings, ...trustSettings, ...webhookSettings }

/** Settings of the webhook sender. */
export type Config = SettingValues<typeof settings>

/** Reads the sender's settings; throws `CONFIGURATION` with all problems at once. */
export const readConfig = (env: Env): Config => readEnv(settings, env)
