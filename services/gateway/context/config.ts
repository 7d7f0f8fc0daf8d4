import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
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
