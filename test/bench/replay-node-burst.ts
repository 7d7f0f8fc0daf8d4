import type { NodeCluster } from '#test/helpers/nodes/node-cluster.ts'
import type { Release } from '#test/helpers/nodes/release.ts'
import { untilWorkers } from '#test/helpers/nodes/workers.ts'
import { sendArrivals, simulateServed, type Waits } from './autoscaler/simulate-served.ts'

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
  const arrivals = Array.from({ length: captures }, (_, index) => ({
    atMs: index * everyMs,
    lane: 'interactive' as const,
    serviceMs: 0,
  }))
  const timings = await sendArrivals(arrivals, {
    capture: (_, index) =>
      release.request('/v1/screenshots/capture', { url: `${url}?${index}`, delay: delaySeconds, timeout: 30 }),
    record: release.record,
  })
  const workers = await untilWorkers(cluster, release, (all) =>
    all.every(({ isReady, isEnding }) => isReady || isEnding),
  )
  const starts = workers.flatMap(({ name, startMs }) => (name === first?.name || startMs === undefined ? [] : startMs))
  if (starts.length === 0) throw new Error('no worker has started')
  const startMs = starts.reduce((sum, each) => sum + each, 0) / starts.length
  return { ...simulateServed({ arrivals, timings, startMs, workersMax }), startMs }
}
