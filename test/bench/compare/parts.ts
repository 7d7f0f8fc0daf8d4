import { setTimeout as sleep } from 'node:timers/promises'
import { processTree, pssBytes } from '#test/helpers/process-tree.ts'
import { cpuSeconds, selfCpuSeconds } from '#test/bench/cpu-seconds.ts'
import type { LoadProcess } from '#test/bench/load-from-process.ts'
import { partOf } from '#test/bench/part-of.ts'
import { quantile } from '#test/bench/quantile.ts'
import { createRequest, getRequest } from '#test/bench/served.ts'
import { endWorkers, type Running, type Side } from './side.ts'

/** How much a block of each part does. */
export type Effort = {
  readonly warmSeconds: number
  readonly loadSeconds: number
  readonly captures: number
  readonly idleMs: number
}

/** What the blocks of all parts share. */
export type Surroundings = { readonly effort: Effort; readonly pageUrl: string; readonly load: LoadProcess }

/** What a block measured, by name and unit; less is better in each. */
export type Measured = Readonly<Record<string, number>>

/** A part that is measured on running systems: what goes before its blocks, and a block. */
export type RunningPart = {
  readonly prepare: (running: Running, surroundings: Surroundings) => Promise<unknown>
  readonly measure: (running: Running, surroundings: Surroundings) => Promise<Measured>
}

const connections = 16
const warmCaptures = 4

/** Counts the processor milliseconds, from now on, of everything that `up` started, and those of its parts but Chromium. */
const countSpent = (root: number) => {
  const before = new Map(processTree(root).map(({ pid }) => [pid, selfCpuSeconds(pid)]))
  const all = cpuSeconds(root)
  return () => {
    // Without ended processes, and by what each is now: a browser that is replaced ends, and begins as its parent's copy.
    const own = processTree(root).filter(({ command }) => partOf(command) !== 'Chromium')
    const ownSeconds = own.reduce((sum, { pid }) => sum + selfCpuSeconds(pid) - (before.get(pid) ?? 0), 0)
    return { all: (cpuSeconds(root) - all) * 1000, own: ownSeconds * 1000 }
  }
}

/** Processor milliseconds of everything for each of the requests that were sent for so many seconds. */
const send = async (
  { system }: Running,
  { load }: Surroundings,
  sent: { readonly requests: readonly string[]; readonly seconds: number; readonly status: string },
) => {
  const { requests, seconds, status } = sent
  const port = Number(new URL(system.baseUrl).port)
  const before = cpuSeconds(system.pid)
  const { answers, statuses } = await load.send({ port, requests, connections, seconds })
  if (statuses[status] !== answers) throw new Error(`expected only ${status}: ${JSON.stringify(statuses)}`)
  return ((cpuSeconds(system.pid) - before) * 1000) / answers
}

const capture = async ({ system }: Running, { pageUrl }: Surroundings, format: string) => {
  const began = performance.now()
  const response = await system.request(`/v1/screenshots/capture?format=${format}&url=${encodeURIComponent(pageUrl)}`)
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  await response.arrayBuffer()
  return performance.now() - began
}

const captures = async (running: Running, surroundings: Surroundings, format: string, count: number) => {
  const times: number[] = []
  for (let turn = 0; turn < count; turn += 1) times.push(await capture(running, surroundings, format))
  return times
}

const captureIn = (name: string, format: string): RunningPart => ({
  prepare: (running, surroundings) => captures(running, surroundings, format, warmCaptures),
  measure: async (running, surroundings) => {
    const count = surroundings.effort.captures
    const spent = countSpent(running.system.pid)
    const times = await captures(running, surroundings, format, count)
    const { all, own } = spent()
    return {
      [`${name}: processor ms each`]: all / count,
      [`${name}: processor ms each, without Chromium`]: own / count,
      [`${name}: p50 ms`]: quantile(times, 0.5),
    }
  },
})

const accepts = (running: Running, surroundings: Surroundings, seconds: number) => {
  const requests = running.keys.map((key) => createRequest(key))
  return send(running, surroundings, { requests, seconds, status: '202' })
}

const lists = (running: Running, surroundings: Surroundings, seconds: number) => {
  const requests = running.keys.map((key) => getRequest(key, '/v1/screenshots?per_page=20'))
  return send(running, surroundings, { requests, seconds, status: '200' })
}

const untaken = async (running: Running, surroundings: Surroundings) => {
  await endWorkers(running)
  await accepts(running, surroundings, surroundings.effort.warmSeconds)
}

/** Each part that is measured on running systems, in the order in which they run: from `accept` on there are no workers. */
export const runningParts: Readonly<Record<string, RunningPart>> = {
  idle: {
    prepare: async () => undefined,
    measure: async ({ system }, { effort }) => {
      const before = cpuSeconds(system.pid)
      await sleep(effort.idleMs)
      const share = (cpuSeconds(system.pid) - before) / (effort.idleMs / 1000)
      const bytes = processTree(system.pid).reduce((sum, { pid }) => sum + pssBytes(pid), 0)
      return { 'idle: % of a core': share * 100, 'idle: MiB': bytes / 2 ** 20 }
    },
  },
  capture: captureIn('capture', 'jpeg'),
  png: captureIn('png', 'png'),
  accept: {
    prepare: untaken,
    measure: async (running, surroundings) => ({
      'accept: processor ms each': await accepts(running, surroundings, surroundings.effort.loadSeconds),
    }),
  },
  lists: {
    prepare: async (running, surroundings) => {
      await untaken(running, surroundings)
      await lists(running, surroundings, surroundings.effort.warmSeconds)
    },
    measure: async (running, surroundings) => ({
      'lists: processor ms each': await lists(running, surroundings, surroundings.effort.loadSeconds),
    }),
  },
}

/** From the command to the first capture done. */
export const measureStart = async (side: Side): Promise<Measured> => {
  const began = performance.now()
  await using running = await side.start()
  const tookMs = performance.now() - began
  return { 'start: ms': tookMs, 'start: processor ms': cpuSeconds(running.system.pid) * 1000 }
}

/** The names of all parts. */
export const partNames: readonly string[] = ['start', ...Object.keys(runningParts)]
