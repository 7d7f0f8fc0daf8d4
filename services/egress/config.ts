import { AppError } from '#shared/errors/app-error.ts'
import { isLoopback } from '#shared/policy/address.ts'
import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { egressSettings } from '#shared/config/settings/egress.ts'

const settings = { ...commonSettings, ...egressSettings }

/** Settings of the egress filter. */
export type Config = SettingValues<typeof settings>

const refuse = (message: string): never => {
  throw new AppError('CONFIGURATION', { message, publicMessage: message })
}

/** Reads the settings. Throws `CONFIGURATION` with all problems at once, or if they contradict each other or it would listen beyond loopback without tokens. */
export const readConfig = (env: Env): Config => {
  const config = readEnv(settings, env)
  const { egressHost, egressTokens, certificateFile, keyFile, plainPort } = config
  if ((certificateFile === '') !== (keyFile === ''))
    refuse('SHUTTERFLEET_EGRESS_CERTIFICATE_FILE and SHUTTERFLEET_EGRESS_KEY_FILE must be set together')
  if (plainPort !== 0 && certificateFile === '')
    refuse(
      `SHUTTERFLEET_EGRESS_PLAIN_PORT = ${plainPort}, but SHUTTERFLEET_EGRESS_CERTIFICATE_FILE is empty: SHUTTERFLEET_EGRESS_PORT serves without TLS`,
    )
  if (egressTokens.length > 0 || egressHost === 'localhost' || isLoopback(egressHost)) return config
  return refuse(
    `SHUTTERFLEET_EGRESS_TOKENS is empty and SHUTTERFLEET_EGRESS_HOST = ${egressHost}: anyone who reaches that address could use the proxy; set tokens, or listen on 127.0.0.1`,
  )
}
