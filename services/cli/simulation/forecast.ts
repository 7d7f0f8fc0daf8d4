import { decide } from '#controller/decide/decide.ts'
import { percentile } from '#controller/decide/percentile.ts'
import type { PoolPolicy } from '#controller/decide/pool.ts'
import { type Lane, lanes } from '#shared/capture/lane.ts'
import { workersMax } from '#shared/kube/browser-pool.ts'
import { driveByDecide } from './drive.ts'
import { seededRandom } from './random.ts'
import type { Arrival } from './pods.ts'
import { type Outcome, Simulation, warmUpMs } from './simulate.ts'

/** Captures in the order of their times, which begin after `warmUpMs`, and when the simulation ends. */
export type Load = { readonly arrivals: readonly Arrival[]; readonly durationMs: number }

/** The workers of a pool: how many at least, their slots, the mean time of a start, and the lanes' objectives. */
export type Workers = {
  readonly least: number
  readonly slots: number
  readonly startMs: number
  readonly objectivesMs: Readonly<Record<Lane, number>>
}

/** Waits of a lane's captures in milliseconds. */
export type LaneWaits = {
  readonly lane: Lane
  readonly captures: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

/** What becomes of a load. */
export type Forecast = {
  /** Of the lanes that have captures. */
  readonly waits: readonly LaneWaits[]
  readonly meanWorkers: number
  readonly mostWorkers: number
  readonly workerHours: number
  /** Captures that had not begun at the end. */
  readonly unbegun: number
  /** Every ten seconds from the first capture on. */
  readonly series: Outcome['series']
}

/** The policy of a BrowserPool with these workers and its defaults. */
export const poolPolicy = ({ least, slots, objectivesMs }: Omit<Workers, 'startMs'>): PoolPolicy => ({
  size: 'by-queue',
  isPaused: false,
  min: least,
  max: workersMax,
  slots,
  reservedSlots: 0,
  isPredicting: true,
  buffer: 0,
  idleCores: 0,
  objectivesMs,
  holdMs: 30_000,
  holdsLong: true,
  zeroAfterMs: 0,
  startLimitMs: Number.POSITIVE_INFINITY,
  startMaxMs: Number.POSITIVE_INFINITY,
  drainStepMs: 5000,
})

/** Simulates a load with the controller's law and the defaults of a BrowserPool; the same load gives the same result. */
export const forecast = ({ arrivals, durationMs }: Load, workers: Workers): Forecast => {
  const { least, slots, startMs } = workers
  const random = seededRandom(1)
  const bounds = { min: least, max: workersMax, slots }
  // A start takes from 0.8 to 1.2 of the mean.
  const scenario = { arrivals, durationMs, bounds, random, startMs: () => startMs * (0.8 + 0.4 * random()) }
  const outcome = new Simulation(scenario, driveByDecide(poolPolicy(workers), decide)).run()
  const series = outcome.series.filter(({ atMs }) => atMs >= warmUpMs)
  const meanWorkers = series.reduce((sum, { pods }) => sum + pods, 0) / series.length
  return {
    waits: lanes.flatMap((lane) => {
      const waits = outcome.waitsMs[lane]
      const at = (share: number) => percentile(waits, share) ?? 0
      return waits.length === 0
        ? []
        : [{ lane, captures: waits.length, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) }]
    }),
    meanWorkers,
    mostWorkers: Math.max(...series.map(({ pods }) => pods)),
    workerHours: meanWorkers * ((durationMs - warmUpMs) / 3_600_000),
    unbegun: outcome.unbegun,
    series,
  }
}
