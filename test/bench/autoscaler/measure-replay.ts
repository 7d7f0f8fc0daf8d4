import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { samplesIn } from '#cli/top/read-pools.ts'
import type { Arrival } from '#cli/simulation/pods.ts'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { startSystem, type System } from '#test/helpers/system.ts'
import { sendArrivals, simulateServed, type Waits } from './simulate-served.ts'

const workersMax = 16
/** A pod's image, node and sandbox take this long before its browser; a process has none of them. */
const beforeStartSeconds = 6

/** What a trace gave in reality and in the simulation, and the mean start of a worker in milliseconds. */
export type Replay = Waits & { readonly captures: number; readonly startMs: number }

/** Answers after as many milliseconds as the path names. */
const startSlowSite = () =>
  listening(
    createServer((request, response) => {
      const waitMs = Number(request.url?.slice(1))
      setTimeout(() => response.end('<h1>A page</h1>'), waitMs)
    }),
  )

/** A browser that starts as slowly as that of a pod. */
const createSlowBrowser = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shutterfleet-replay-'))
  const path = join(folder, 'chromium')
  await writeFile(path, `#!/bin/sh\nsleep ${beforeStartSeconds}\nexec ${chromiumPath} "$@"\n`)
  await chmod(path, 0o755)
  await chmod(folder, 0o755)
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

/** Mean time from the start of a worker until it was ready, of all of a system's pool. */
const meanStartMs = async (system: System): Promise<number> => {
  const samples = samplesIn(await system.metrics('controller'))
  const [sum, count] = ['sum', 'count'].map(
    (part) =>
      samples.find(({ name, labels }) => name === `pool_worker_start_seconds_${part}` && labels['queue'] === 'standard')
        ?.value,
  )
  if (!sum || !count) throw new Error('the controller reports no pool_worker_start_seconds')
  return (sum / count) * 1000
}

/** Sends a trace to a system in real time, and simulates it with the measured times of captures and starts. */
export const measureReplay = async (arrivals: readonly Arrival[]): Promise<Replay> => {
  await using site = await startSlowSite()
  await using browser = await createSlowBrowser()
  const env = { SHUTTERFLEET_CHROMIUM: browser.path, SHUTTERFLEET_POOL_IDLE_CORES: '0' }
  const args = ['--workers-max', String(workersMax), '--allow-target', `127.0.0.1:${site.port}`]
  await using system = await startSystem(args, { env })
  const timings = await sendArrivals(arrivals, {
    capture: ({ serviceMs }) =>
      system.post('/v1/screenshots/capture', {
        url: `http://127.0.0.1:${site.port}/${Math.round(serviceMs)}`,
        timeout: 30,
      }),
    record: system.record,
  })
  const startMs = await meanStartMs(system)
  return { captures: timings.length, startMs, ...simulateServed({ arrivals, timings, startMs, workersMax }) }
}
