import { type Env, prefix, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { databaseSettings, queueSettings, storageSettings } from '#shared/config/settings/outside.ts'

const settings = { ...commonSettings, ...databaseSettings, ...queueSettings, ...storageSettings, ...gatewaySettings }

/** The gateway's settings. */
export type Config = SettingValues<typeof settings>

/** Reads the gateway's settings; throws `CONFIGURATION` with all problems at once. */
export const readConfig = (env: Env): Config => readEnv(settings, env)

/** A setting of the gateway with its value as text. */
export type SettingInForce = { readonly name: string; readonly value: string; readonly is_default: boolean }

/** The gateway's settings, without secrets. */
export const settingsInForce = (env: Env): readonly SettingInForce[] =>
  Object.values(settings)
    .filter(({ secret }) => !secret)
    .map(({ name, fallback = '' }) => {
      const value = env[prefix + name]
      return { name: prefix + name, value: value ?? fallback, is_default: value === undefined }
    })
