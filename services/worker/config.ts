import { AppError } from '#shared/errors/app-error.ts'
import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { queueSettings, trustSettings } from '#shared/config/settings/outside.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'

const settings = { ...commonSettings, ...queueSettings, ...trustSettings, ...workerSettings }

/** The settings of a worker. */
export type Config = SettingValues<typeof settings>

/** Reads the settings of a worker; throws `CONFIGURATION` that lists all problems. */
export const readConfig = (env: Env): Config => {
  const config = readEnv(settings, env)
  if (config.reservedSlots >= config.slots) {
    const problem = `SHUTTERFLEET_WORKER_RESERVED_SLOTS = ${config.reservedSlots}, must be < SHUTTERFLEET_WORKER_SLOTS (${config.slots})`
    throw new AppError('CONFIGURATION', { message: problem, publicMessage: problem })
  }
  return config
}
