import { setTimeout as delay } from 'node:timers/promises'
import { processTree, pssBytes } from '#test/helpers/process-tree.ts'
import { cpuSeconds, selfCpuSeconds } from '#test/bench/cpu-seconds.ts'
import { captureAll } from '#test/bench/measure-accounts.ts'
import { partOf } from '#test/bench/part-of.ts'
import { quantile } from '#test/bench/quantile.ts'
import { createRequest, getRequest } from '#test/bench/served.ts'
import { loadInTurns } from './load-in-turns.ts'
import { onBoth, type Pair, turnOrder } from './pair.ts'
import { endWorkers, type Running, type Side } from './side.ts'

/** How much is measured of each part in one round; `captures` is an even number. */
export type Workload = {
  readonly warmSeconds: number
  readonly loadSeconds: number
  readonly captures: number
  readonly idleMs: number
  /** Turns of ABBA, and captures in each, where stand-ins take the place of workers. */
  readonly flow: { readonly turns: number; readonly captures: number }
}

/** What all parts share. */
export type Surroundings = { readonly workload: Workload; readonly pageUrl: string }

/** What one version needed, by name and unit; less is better in each. */
export type Measured = Readonly<Record<string, number>>

/** A part that is measured on both running systems in turns: what goes before, and one measurement. */
export type RunningPart = {
  readonly prepare: (pair: Pair<Running>, surroundings: Surroundings) => Promise<unknown>
  readonly measure: (pair: Pair<Running>, surroundings: Surroundings) => Promise<Pair<Measured>>
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

/** Asks both for so many seconds; resolves to the processor milliseconds of everything for each request. */
const load = async (
  pair: Pair<Running>,
  sent: { readonly seconds: number; readonly status: string; readonly requestOf: (key: string) => string },
): Promise<Pair<number>> => {
  const askedOf = ({ system, keys }: Running) => ({
    port: Number(new URL(system.baseUrl).port),
    requests: keys.map(sent.requestOf),
  })
  const spent = [countSpent(pair[0].system.pid), countSpent(pair[1].system.pid)] as const
  const answers = await loadInTurns([askedOf(pair[0]), askedOf(pair[1])], { ...sent, connections })
  return [spent[0]().all / answers, spent[1]().all / answers]
}

const accept = (pair: Pair<Running>, seconds: number) =>
  load(pair, { seconds, status: '202', requestOf: (key) => createRequest(key) })

const list = (pair: Pair<Running>, seconds: number) =>
  load(pair, { seconds, status: '200', requestOf: (key) => getRequest(key, '/v1/screenshots?per_page=20') })

const named = (name: string, [base, work]: Pair<number>): Pair<Measured> => [{ [name]: base }, { [name]: work }]

const capture = async ({ system }: Running, { pageUrl }: Surroundings, format: string) => {
  const began = performance.now()
  const response = await system.request(`/v1/screenshots/capture?format=${format}&url=${encodeURIComponent(pageUrl)}`)
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  await response.arrayBuffer()
  return performance.now() - began
}

/** Captures so often with each version; resolves to the milliseconds of each capture. */
const captureInTurns = async (pair: Pair<Running>, surroundings: Surroundings, format: string, count: number) => {
  const times: Pair<number[]> = [[], []]
  while (times[0].length < count)
    for (const side of turnOrder) times[side].push(await capture(pair[side], surroundings, format))
  return times
}

const captureIn = (name: string, format: string): RunningPart => ({
  prepare: (pair, surroundings) => captureInTurns(pair, surroundings, format, warmCaptures),
  measure: async (pair, surroundings) => {
    const count = surroundings.workload.captures
    const spent = [countSpent(pair[0].system.pid), countSpent(pair[1].system.pid)] as const
    const times = await captureInTurns(pair, surroundings, format, count)
    const measuredOf = (side: 0 | 1): Measured => {
      const { all, own } = spent[side]()
      return {
        [`${name}: processor ms each`]: all / count,
        [`${name}: processor ms each, without Chromium`]: own / count,
        [`${name}: p50 ms`]: quantile(times[side], 0.5),
      }
    }
    return [measuredOf(0), measuredOf(1)]
  },
})

const queueOf = ({ system, keys }: Running, { pageUrl, workload }: Surroundings) =>
  captureAll({ system, url: pageUrl }, keys, workload.captures)

/** A queue of captures of several accounts in turn, on each version alone. */
const accounts: RunningPart = {
  prepare: async (pair, surroundings) => {
    for (const running of pair) await queueOf(running, surroundings)
  },
  measure: async (pair, surroundings) => {
    const spent: [number, number] = [0, 0]
    for (const side of turnOrder) {
      const count = countSpent(pair[side].system.pid)
      await queueOf(pair[side], surroundings)
      spent[side] += count().all
    }
    const captures = (turnOrder.length / 2) * surroundings.workload.captures
    return named('accounts: processor ms each', [spent[0] / captures, spent[1] / captures])
  },
}

const measureIdle = async ({ system }: Running, idleMs: number): Promise<Measured> => {
  const before = cpuSeconds(system.pid)
  await delay(idleMs)
  const share = (cpuSeconds(system.pid) - before) / (idleMs / 1000)
  const bytes = processTree(system.pid).reduce((sum, { pid }) => sum + pssBytes(pid), 0)
  return { 'idle: % of a core': share * 100, 'idle: MiB': bytes / 2 ** 20 }
}

/** Each part that is measured on running systems, in the order in which they run: from `accept` on there are no workers. */
export const runningParts: Readonly<Record<string, RunningPart>> = {
  idle: {
    prepare: async () => undefined,
    measure: (pair, { workload }) => onBoth(pair, (running) => measureIdle(running, workload.idleMs)),
  },
  capture: captureIn('capture', 'jpeg'),
  png: captureIn('png', 'png'),
  pdf: captureIn('pdf', 'pdf'),
  accounts,
  accept: {
    prepare: async (pair, { workload }) => {
      await onBoth(pair, endWorkers)
      await accept(pair, workload.warmSeconds)
    },
    measure: async (pair, { workload }) => named('accept: processor ms each', await accept(pair, workload.loadSeconds)),
  },
  lists: {
    prepare: async (pair, { workload }) => {
      await onBoth(pair, endWorkers)
      await accept(pair, workload.warmSeconds)
      await list(pair, workload.warmSeconds)
    },
    measure: async (pair, { workload }) => named('lists: processor ms each', await list(pair, workload.loadSeconds)),
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
export const partNames: readonly string[] = ['start', 'flow', ...Object.keys(runningParts)]
