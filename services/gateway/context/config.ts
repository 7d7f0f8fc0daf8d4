import { type Env, prefix, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { databaseSettings, queueSettings, storageSettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'

const settings = { ...commonSettings, ...databaseSettings, ...queueSettings, ...storageSettings, ...gatewaySettings }

/** The gateway's settings. */
export type Config = SettingValues<typeof settings>

/** Reads the gateway's settings; throws `CONFIGURATION` with all problems at once, and then for an issuer without a client id. */
export const readConfig = (env: Env): Config => {
  const config = readEnv(settings, env)
  if (config.oidcIssuer === '' || config.oidcClientId !== '') return config
  const publicMessage = 'SHUTTERFLEET_OIDC_ISSUER is set, but SHUTTERFLEET_OIDC_CLIENT_ID is not'
  throw new AppError('CONFIGURATION', { publicMessage })
}

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
