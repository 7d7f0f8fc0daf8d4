import { type Env, prefix, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { databaseSettings, queueSettings, storageSettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'

const settings = { ...commonSettings, ...databaseSettings, ...queueSettings, ...storageSettings, ...gatewaySettings }

/** The gateway's settings. */
export type Config = SettingValues<typeof settings>

/** What is wrong with the settings of the provider together; undefined if nothing is. */
const oidcProblem = (config: Config): string | undefined => {
  const hasValues = config.oidcOperatorValues.length + config.oidcReadOnlyOperatorValues.length > 0
  if (config.oidcIssuer !== '' && config.oidcClientId === '')
    return 'SHUTTERFLEET_OIDC_ISSUER is set, but SHUTTERFLEET_OIDC_CLIENT_ID is not'
  if (config.oidcOperatorClaim === '')
    return hasValues ? 'values of operators are set, but SHUTTERFLEET_OIDC_OPERATOR_CLAIM is not' : undefined
  const claim = 'SHUTTERFLEET_OIDC_OPERATOR_CLAIM is set, but'
  if (config.oidcIssuer === '') return `${claim} SHUTTERFLEET_OIDC_ISSUER is not`
  if (!hasValues)
    return `${claim} neither SHUTTERFLEET_OIDC_OPERATOR_VALUES nor SHUTTERFLEET_OIDC_READ_ONLY_OPERATOR_VALUES is`
  return config.consoleOperators ? undefined : `${claim} SHUTTERFLEET_CONSOLE_OPERATORS is false`
}

/** Reads the gateway's settings; throws `CONFIGURATION` with all problems at once, and then for those of the provider together. */
export const readConfig = (env: Env): Config => {
  const config = readEnv(settings, env)
  const publicMessage = oidcProblem(config)
  if (publicMessage === undefined) return config
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
