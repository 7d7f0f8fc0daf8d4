import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '#test/helpers/eventually.ts'
import type { NodeCluster } from '#test/helpers/nodes/node-cluster.ts'
import type { Release } from '#test/helpers/nodes/release.ts'
import { untilWorkers } from '#test/helpers/nodes/workers.ts'
import { simulateServed, type Waits } from './autoscaler/simulate-served.ts'

const captures = 16
const everyMs = 100
const delaySeconds = 2
const workersMax = 6

/** A pool that a burst finds with one worker. */
export const burstPool = {
  autoscaling: { minReplicas: 1, maxReplicas: workersMax },
  // The nodes of the benchmark have room for all of them.
  template: { resources: { requests: { cpu: '100m', memory: '700Mi' }, limits: { memory: '3584Mi' } } },
}

/** A burst on real nodes, and its simulation; the mean start of a worker, from its pod's creation until it was ready, in milliseconds. */
export type NodeBurst = Waits & { readonly startMs: number }

/** Sends sixteen captures of a page within two seconds to a release with `burstPool`. Each takes two seconds and more. */
export const replayNodeBurst = async (cluster: NodeCluster, release: Release, url: string): Promise<NodeBurst> => {
  const [first] = await untilWorkers(cluster, release, (all) => all.length === 1 && all.every(({ isReady }) => isReady))
  const capture = async (index: number): Promise<string> => {
    const body = { url: `${url}?${index}`, delay: delaySeconds, timeout: 30 }
    const response = await release.request('/v1/screenshots/capture', body)
    await response.arrayBuffer()
    const id = response.headers.get('x-screenshot-id')
    if (!response.ok || !id) throw new Error(`${response.status} instead of a capture`)
    return id
  }
  const began = performance.now()
  const running: Promise<{ readonly atMs: number; readonly id: string }>[] = []
  for (let index = 0; index < captures; index += 1) {
    await delay(Math.max(0, began + index * everyMs - performance.now()))
    const atMs = performance.now() - began
    running.push(capture(index).then((id) => ({ atMs, id })))
  }
  const sent = await Promise.all(running)
  const workers = await untilWorkers(cluster, release, (all) =>
    all.every(({ isReady, isEnding }) => isReady || isEnding),
  )
  const starts = workers.flatMap(({ name, startMs }) => (name === first?.name || startMs === undefined ? [] : startMs))
  if (starts.length === 0) throw new Error('no worker has started')
  const timings: Readonly<Record<string, number>>[] = []
  for (const { id } of sent) timings.push(await timingsOf(release, id))
  const startMs = starts.reduce((sum, each) => sum + each, 0) / starts.length
  const arrivals = sent.map(({ atMs }) => ({ atMs, lane: 'interactive' as const, serviceMs: 0 }))
  return { ...simulateServed({ arrivals, timings, startMs, workersMax }), startMs }
}

const timingsOf = async (release: Release, id: string): Promise<Readonly<Record<string, number>>> => {
  let { timings } = await release.record(id)
  const hasTimings = async () => {
    timings = (await release.record(id)).timings
    return timings !== undefined
  }
  await eventually(hasTimings, { everyMs: 500, what: `${id} has timings` })
  return timings ?? {}
}
