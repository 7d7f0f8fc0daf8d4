import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { controllerSettings } from '#shared/config/settings/controller.ts'
import { queueSettings } from '#shared/config/settings/outside.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { laneObjectivesMs } from '#shared/policy/lane-objectives.ts'
import type { PoolPolicy } from './decide/pool.ts'

const settings = { ...commonSettings, ...queueSettings, ...controllerSettings }

/** A local worker process that sends no heartbeat for this long after its start has failed. */
const startLimitMs = 60_000
/** The worker itself retries its browser, with bounds that grow to minutes. */
const startMaxMs = 900_000
const longestBudgetMs = attemptBudgetMs({ timeout: 60, delay: 10 })

type Settings = SettingValues<typeof settings>

/** The settings of a controller, and what follows from them. */
export type ControllerConfig = ReturnType<typeof readConfig>

/** Reads the controller's settings. Throws `CONFIGURATION` with all problems found. */
export const readConfig = (env: Env) => {
  const config = readEnv(settings, env)
  const { poolMax, poolMin, poolBuffer } = config
  const objectivesMs = laneObjectivesMs({
    queueWaitMs: config.poolQueueWaitMs,
    normalQueueWaitMs: config.poolNormalQueueWaitMs,
    bulkQueueWaitMs: config.poolBulkQueueWaitMs,
  })
  const problems = [
    ...(poolMax < poolMin ? [`SHUTTERFLEET_POOL_MAX = ${poolMax}, must be ≥ SHUTTERFLEET_POOL_MIN (${poolMin})`] : []),
    ...(poolMax < poolBuffer
      ? [`SHUTTERFLEET_POOL_MAX = ${poolMax}, must be ≥ SHUTTERFLEET_POOL_BUFFER (${poolBuffer})`]
      : []),
  ]
  if (objectivesMs.normal < objectivesMs.interactive) {
    problems.push(
      `SHUTTERFLEET_POOL_NORMAL_QUEUE_WAIT_MS = ${objectivesMs.normal}, must be ≥ SHUTTERFLEET_POOL_QUEUE_WAIT_MS (${objectivesMs.interactive})`,
    )
  }
  if (objectivesMs.bulk < objectivesMs.normal) {
    problems.push(
      `SHUTTERFLEET_POOL_BULK_QUEUE_WAIT_MS = ${objectivesMs.bulk}, must be ≥ SHUTTERFLEET_POOL_NORMAL_QUEUE_WAIT_MS (${objectivesMs.normal})`,
    )
  }
  if (problems.length > 0) {
    const problem = problems.join('\n')
    throw new AppError('CONFIGURATION', { message: problem, publicMessage: problem })
  }
  const policy: PoolPolicy = { ...policyOf(config, objectivesMs), reservedSlots: reservedSlotsOf(config.workerEnv) }
  // No workers while no capture with `stealth` waits.
  const stealthPolicy: PoolPolicy = {
    ...policy,
    min: 0,
    max: config.stealthMax,
    buffer: 0,
    idleCores: 0,
    reservedSlots: reservedSlotsOf(config.stealthWorkerEnv),
  }
  return { ...config, policy, stealthPolicy, jobLifeMs: jobLifeMs(config) }
}

const reservedSlotsOf = (env: Env): number =>
  readEnv({ reservedSlots: workerSettings.reservedSlots }, env).reservedSlots

const policyOf = (config: Settings, objectivesMs: PoolPolicy['objectivesMs']): Omit<PoolPolicy, 'reservedSlots'> => ({
  size: 'by-queue',
  isPaused: false,
  min: config.poolMin,
  max: config.poolMax,
  slots: config.poolSlots,
  isPredicting: config.poolPrediction,
  buffer: config.poolBuffer,
  idleCores: Math.min(config.poolIdleCores, config.poolMax),
  objectivesMs,
  holdMs: config.poolHoldSeconds * 1000,
  // An idle worker takes memory that pages and stores of the same machine need, and starts in seconds.
  holdsLong: false,
  zeroAfterMs: config.poolHoldSeconds * 1000,
  startLimitMs,
  startMaxMs,
  drainStepMs: config.poolDrainStepSeconds * 1000,
})

/**
 * Longest lifetime of a local single-use worker in milliseconds: start, wait for a capture, and serve it. Throws
 * `CONFIGURATION` if the worker's environment is invalid.
 */
const jobLifeMs = ({ proxiedWorkerEnv }: Settings): number => {
  const { spareSeconds } = readEnv({ spareSeconds: workerSettings.spareSeconds }, proxiedWorkerEnv)
  return startLimitMs + spareSeconds * 1000 + longestBudgetMs
}
