import { type Env, readEnv, type ValuesOf } from '#shared/config/read-env.ts'
import { knownNames } from '#shared/config/settings/all.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { controllerSettings } from '#shared/config/settings/controller.ts'
import { queueSettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { PoolPolicy } from './pool.ts'

const settings = { ...commonSettings, ...queueSettings, ...controllerSettings }

/** The settings of a controller. */
export type ControllerConfig = ValuesOf<typeof settings>

/** Reads the controller's settings. Throws `CONFIGURATION` with everything that is wrong with them. */
export const readConfig = (env: Env): ControllerConfig => {
  const config = readEnv(settings, env, knownNames)
  if (config.poolMax < config.poolMin) {
    const problem = `SHUTTERFLEET_POOL_MAX = ${config.poolMax}, must be ≥ SHUTTERFLEET_POOL_MIN (${config.poolMin})`
    throw new AppError('CONFIGURATION', { message: problem, publicMessage: problem })
  }
  return config
}

/** The part of the settings that decides. */
export const policyOf = (config: ControllerConfig): PoolPolicy => ({
  min: config.poolMin,
  max: config.poolMax,
  slots: config.poolSlots,
  buffer: config.poolBuffer,
  queueWaitMs: config.poolQueueWaitMs,
  holdMs: config.poolHoldSeconds * 1000,
  drainStepMs: config.poolDrainStepSeconds * 1000,
})
