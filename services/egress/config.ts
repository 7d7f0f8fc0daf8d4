import { AppError } from '#shared/errors/app-error.ts'
import { isLoopback } from '#shared/policy/address.ts'
import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { egressSettings } from '#shared/config/settings/egress.ts'

const settings = { ...commonSettings, ...egressSettings }

/** Settings of the egress filter. */
export type Config = SettingValues<typeof settings>

/** Reads the settings. Throws `CONFIGURATION` with all problems at once, or if it would listen beyond loopback without tokens. */
export const readConfig = (env: Env): Config => {
  const config = readEnv(settings, env)
  const { egressHost, egressTokens } = config
  if (egressTokens.length > 0 || egressHost === 'localhost' || isLoopback(egressHost)) return config
  const message = `SHUTTERFLEET_EGRESS_TOKENS is empty and SHUTTERFLEET_EGRESS_HOST = ${egressHost}: anyone who reaches that address could use the proxy; set tokens, or listen on 127.0.0.1`
  throw new AppError('CONFIGURATION', { message, publicMessage: message })
}
