import type { Arrival } from '#cli/simulation/pods.ts'
import { warmUpMs } from '#cli/simulation/simulate.ts'
import { own, simulate } from './measure-autoscaler.ts'

/** Longest wait for the captures that are unfinished at the end of a trace. */
const restMs = 120_000

/** Captures with the times that they took in their slots, and the workers of their pool: one at least. Times in milliseconds. */
export type Served = {
  readonly arrivals: readonly Arrival[]
  readonly timings: readonly Readonly<Record<string, number>>[]
  readonly startMs: number
  readonly workersMax: number
}

/** Mean time of a capture in its slot, and the waits in reality and of the simulation. */
export type Waits = {
  readonly serviceMs: number
  readonly real: readonly number[]
  readonly simulated: readonly number[]
}

/** Simulates what was served, with the controller's law and the measured times of captures and starts. */
export const simulateServed = ({ arrivals, timings, startMs, workersMax }: Served): Waits => {
  const served = arrivals.map((arrival, index) => {
    const { total = 0, store = 0 } = timings[index] ?? {}
    return { ...arrival, atMs: warmUpMs + arrival.atMs, serviceMs: total - store }
  })
  const durationMs = (served.at(-1)?.atMs ?? 0) + restMs
  const pool = { min: 1, max: workersMax, slots: 1, startMs }
  const outcome = simulate({ durationMs, create: () => served }, own({ zeroAfterMs: 30_000 }), 1, pool)
  return {
    serviceMs: served.reduce((sum, { serviceMs }) => sum + serviceMs, 0) / served.length,
    real: timings.map(({ queue = 0 }) => queue),
    simulated: outcome.waitsMs.interactive,
  }
}
