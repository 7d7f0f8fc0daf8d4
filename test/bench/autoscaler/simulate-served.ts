import { setTimeout as delay } from 'node:timers/promises'
import type { Arrival } from '#cli/simulation/pods.ts'
import { warmUpMs } from '#cli/simulation/simulate.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { own, simulate } from './measure-autoscaler.ts'

/** Longest wait for the captures that are unfinished at the end of a trace, and for their timings. */
const restMs = 120_000

type Timings = Readonly<Record<string, number>>

/** How captures are sent, and their records read. */
type Client = {
  readonly capture: (arrival: Arrival, index: number) => Promise<Response>
  readonly record: (id: string) => Promise<{ readonly timings?: Timings }>
}

const timingsOf = async ({ record }: Client, id: string): Promise<Timings> => {
  let timings: Timings | undefined
  const hasTimings = async () => {
    ;({ timings } = await record(id))
    return timings !== undefined
  }
  await eventually(hasTimings, { withinMs: restMs, everyMs: 500, what: `${id} has timings` })
  return timings ?? {}
}

/** Sends each capture synchronously at its time, whether or not earlier ones have ended; resolves to the timings of all. */
export const sendArrivals = async (arrivals: readonly Arrival[], client: Client): Promise<readonly Timings[]> => {
  const began = performance.now()
  const send = async (arrival: Arrival, index: number): Promise<string> => {
    const response = await client.capture(arrival, index)
    await response.arrayBuffer()
    const id = response.headers.get('x-screenshot-id')
    if (!response.ok || !id) throw new Error(`${response.status} instead of a capture`)
    return id
  }
  const ids: Promise<string>[] = []
  for (const [index, arrival] of arrivals.entries()) {
    await delay(Math.max(0, began + arrival.atMs - performance.now()))
    ids.push(send(arrival, index))
  }
  const timings: Timings[] = []
  for (const id of await Promise.all(ids)) timings.push(await timingsOf(client, id))
  return timings
}

/** Captures with the times that they took in their slots, and the workers of their pool: one at least. Times in milliseconds. */
export type Served = {
  readonly arrivals: readonly Arrival[]
  readonly timings: readonly Timings[]
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
