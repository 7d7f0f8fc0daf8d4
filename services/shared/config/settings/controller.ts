import { flag, integer, oneOf, optionalInteger, parsed } from './setting.ts'
import { pools } from '#shared/capture/lane.ts'
import { bulkWaitMs, lowerQueueWait, normalWaitMs, queueWait } from '#shared/policy/lane-objectives.ts'

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((each) => typeof each === 'string')

const parseTexts = (text: string): Readonly<Record<string, string>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isTexts(value) ? value : undefined
  } catch {
    return undefined
  }
}

const environment = (name: string, common: { readonly help: string; readonly fallback?: '{}' }) =>
  parsed(
    name,
    { ...common, secret: true, kind: 'JSON object of texts', problem: 'must be a JSON object whose values are texts' },
    parseTexts,
  )

/** Settings of the controller only. */
export const controllerSettings = {
  pool: oneOf('CONTROLLER_POOL', { help: 'pool that this controller sizes', fallback: 'standard', values: pools }),
  poolMin: integer('POOL_MIN', { help: 'fewest workers of the pool', fallback: 1, min: 0, max: 1000 }),
  poolMax: integer('POOL_MAX', { help: 'most workers of the pool', fallback: 4, min: 1, max: 1000 }),
  poolSlots: integer('POOL_SLOTS', {
    help: 'captures that one worker serves at a time, assumed until the first worker reports it',
    fallback: 1,
    min: 1,
    max: 64,
  }),
  poolBuffer: integer('POOL_BUFFER', {
    help: 'idle workers kept on top of what is needed',
    fallback: 0,
    min: 0,
    max: 100,
  }),
  poolIdleCores: integer('POOL_IDLE_CORES', {
    help: 'processor cores that nothing else needs: up to this many workers are started as soon as any capture waits',
    fallback: 0,
    min: 0,
    max: 1000,
  }),
  poolQueueWaitMs: integer('POOL_QUEUE_WAIT_MS', {
    help: 'longest time that a synchronous capture should wait for a worker; more workers are started to meet it',
    unit: 'ms',
    fallback: queueWait.default,
    min: queueWait.minimum,
    max: queueWait.maximum,
  }),
  poolNormalQueueWaitMs: optionalInteger('POOL_NORMAL_QUEUE_WAIT_MS', {
    help: `the same for an asynchronous capture; without it ${normalWaitMs}, or the one above if that is longer`,
    unit: 'ms',
    min: lowerQueueWait.minimum,
    max: lowerQueueWait.maximum,
  }),
  poolBulkQueueWaitMs: optionalInteger('POOL_BULK_QUEUE_WAIT_MS', {
    help: `the same for a capture of a batch; without it ${bulkWaitMs}, or the one above if that is longer`,
    unit: 'ms',
    min: lowerQueueWait.minimum,
    max: lowerQueueWait.maximum,
  }),
  poolHoldSeconds: integer('POOL_HOLD_SECONDS', {
    help: 'time for which the largest number of workers that was needed is kept',
    unit: 's',
    fallback: 30,
    min: 1,
    max: 3600,
  }),
  poolPrediction: flag('POOL_PREDICTION', {
    help: 'whether workers are started ahead of captures that an hourly, daily or weekly pattern predicts',
    fallback: true,
  }),
  poolDrainStepSeconds: integer('POOL_DRAIN_STEP_SECONDS', {
    help: 'time between two scale-down steps; each removes one worker, or a quarter of them if that is more',
    unit: 's',
    fallback: 5,
    min: 1,
    max: 600,
  }),
  poolTickMs: integer('POOL_TICK_MS', {
    help: 'time between two checks of the pool',
    unit: 'ms',
    fallback: 1000,
    min: 100,
    max: 10_000,
  }),
  workerEnv: environment('WORKER_ENV', {
    help: 'the whole environment of the workers that the controller starts on this machine',
  }),
  stealthWorkerEnv: environment('STEALTH_WORKER_ENV', {
    help: 'the whole environment of the workers for captures with `stealth` that the controller starts on this machine; without it there are none',
    fallback: '{}',
  }),
  stealthMax: integer('STEALTH_MAX', {
    help: 'most workers for captures with `stealth`, each with a full Chromium; there are none while no such capture is requested',
    fallback: 1,
    min: 1,
    max: 1000,
  }),
  proxiedWorkerEnv: environment('PROXIED_WORKER_ENV', {
    help: 'the whole environment of the single-use workers that the controller starts on this machine',
  }),
  proxiedMax: integer('PROXIED_MAX', {
    help: "most single-use workers for captures with a caller's proxy, each with its own browser",
    fallback: 2,
    min: 1,
    max: 1000,
  }),
  proxiedSpares: integer('PROXIED_SPARES', {
    help: 'single-use workers that are kept waiting with a warm browser',
    fallback: 0,
    min: 0,
    max: 100,
  }),
}
