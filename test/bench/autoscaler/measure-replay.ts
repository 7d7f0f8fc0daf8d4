import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Arrival } from '#cli/simulation/pods.ts'
import { warmUpMs } from '#cli/simulation/simulate.ts'
import { startSystem, type System } from '#test/helpers/system.ts'
import { own, simulate } from './measure-autoscaler.ts'

const chromium = '/usr/lib/chromium/chromium-headless-shell'
const workersMax = 16
/** A pod's image, node and sandbox take this long before its browser; a process has none of them. */
const beforeStartSeconds = 6
/** Longest wait for the captures that are unfinished at the end of a trace. */
const restMs = 120_000

/** What a trace gave in reality and in the simulation; times in milliseconds. */
export type Replay = {
  readonly captures: number
  readonly startMs: number
  readonly serviceMs: number
  readonly real: readonly number[]
  readonly simulated: readonly number[]
}

/** Answers after as many milliseconds as the path names. */
const startSlowSite = async () => {
  const server = createServer((request, response) => {
    const waitMs = Number(request.url?.slice(1))
    setTimeout(() => response.end('<h1>A page</h1>'), waitMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return { port, [Symbol.dispose]: () => server.close() }
}

/** A browser that starts as slowly as that of a pod. */
const createSlowBrowser = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shutterfleet-replay-'))
  const path = join(folder, 'chromium')
  await writeFile(path, `#!/bin/sh\nsleep ${beforeStartSeconds}\nexec ${chromium} "$@"\n`)
  await chmod(path, 0o755)
  await chmod(folder, 0o755)
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

/** Sends each capture at its time, whether or not earlier ones have ended; resolves to their ids once all have ended. */
const send = async (system: System, arrivals: readonly Arrival[], port: number): Promise<readonly string[]> => {
  const began = performance.now()
  const ids: Promise<string>[] = []
  const post = async (serviceMs: number) => {
    const url = `http://127.0.0.1:${port}/${Math.round(serviceMs)}`
    const response = await system.post('/v1/screenshots/capture', { url, timeout: 30 })
    await response.arrayBuffer()
    const id = response.headers.get('x-screenshot-id')
    if (!id) throw new Error(`${response.status} without an id`)
    return id
  }
  for (const { atMs, serviceMs } of arrivals) {
    await delay(Math.max(0, began + atMs - performance.now()))
    ids.push(post(serviceMs))
  }
  return Promise.all(ids)
}

const timingsOf = async (system: System, id: string) => {
  const endMs = performance.now() + restMs
  for (;;) {
    const { status, timings } = await system.record(id)
    if (timings) return timings
    if (status === 'failed' || performance.now() > endMs) throw new Error(`${id} is ${status}, without timings`)
    await delay(500)
  }
}

const metricOf = (text: string, name: string) =>
  Number(new RegExp(`^${name}{[^\\n]*queue="standard"[^\\n]*} (\\S+)$`, 'm').exec(text)?.[1])

/** Sends a trace to a system in real time, and simulates it with the measured times of captures and starts. */
export const measureReplay = async (arrivals: readonly Arrival[]): Promise<Replay> => {
  using site = await startSlowSite()
  await using browser = await createSlowBrowser()
  const env = { SHUTTERFLEET_CHROMIUM: browser.path, SHUTTERFLEET_POOL_IDLE_CORES: '0' }
  const args = ['--workers-max', String(workersMax), '--allow-target', `127.0.0.1:${site.port}`]
  await using system = await startSystem(args, { env })
  const ids = await send(system, arrivals, site.port)
  const timings: Record<string, number>[] = []
  for (const id of ids) timings.push(await timingsOf(system, id))
  const metrics = await system.metrics('controller')
  const name = 'shutterfleet_pool_worker_start_seconds'
  const startMs = (metricOf(metrics, `${name}_sum`) / metricOf(metrics, `${name}_count`)) * 1000
  if (!(startMs > 0)) throw new Error(`the controller has no ${name}`)
  const served = arrivals.map((arrival, index) => {
    const { total = 0, store = 0 } = timings[index] ?? {}
    return { ...arrival, atMs: warmUpMs + arrival.atMs, serviceMs: total - store }
  })
  const durationMs = (served.at(-1)?.atMs ?? 0) + restMs
  const pool = { min: 1, max: workersMax, slots: 1, startMs }
  const outcome = simulate({ durationMs, create: () => served }, own({ zeroAfterMs: 30_000 }), 1, pool)
  return {
    captures: ids.length,
    startMs,
    serviceMs: served.reduce((sum, { serviceMs }) => sum + serviceMs, 0) / served.length,
    real: timings.map(({ queue = 0 }) => queue),
    simulated: outcome.waitsMs.interactive,
  }
}
