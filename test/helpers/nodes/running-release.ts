// One cluster and release, shared by all test files that are imported into one process.
import t from 'tap'
import { startNodeCluster } from './node-cluster.ts'
import { startOutsideServices } from './outside-services.ts'
import { prepareRelease, releaseOf, type Values } from './release.ts'
import { colourAnnotation, untilWorkers, type WorkerOnNode } from './workers.ts'

/**
 * A node has 2 cores. All services request 1.2, so that after a drain two workers fit beside the services on the
 * other node, in any scheduling order, and a third does not.
 */
const resources = { requests: { cpu: '350m', memory: '700Mi' }, limits: { memory: '3584Mi' } }

/** Values of a pool `standard` with min and max size, spread over nodes, with fast scale-down and additional spec fields. */
export const standardPool = (
  [minReplicas, maxReplicas]: readonly [number, number],
  { colour, ...more }: { readonly colour?: string; readonly rollingUpdate?: object } = {},
): Values => ({
  pools: {
    standard: {
      spec: {
        autoscaling: { minReplicas, maxReplicas },
        scaleDown: { stabilizationWindowSeconds: 5, periodSeconds: 1 },
        template: {
          resources,
          topologySpreadConstraints: [
            { topologyKey: 'kubernetes.io/hostname', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' },
          ],
          ...(colour !== undefined && { annotations: { [colourAnnotation]: colour } }),
        },
        ...more,
      },
    },
  },
})

/** Two nodes, and one that a test adds later. */
export const cluster = await startNodeCluster(t, { count: 2, later: 1 })
export const outside = await startOutsideServices(cluster.network)
t.teardown(() => outside[Symbol.asyncDispose]())
export const release = releaseOf(cluster, outside)
await prepareRelease(cluster, release.namespace, outside.secrets)
// No surge, as in a namespace whose quota is full.
await release.deploy('install', standardPool([2, 2], { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }))

/** `untilWorkers` of this release. */
export const until = (condition: (workers: readonly WorkerOnNode[]) => boolean): Promise<readonly WorkerOnNode[]> =>
  untilWorkers(cluster, release, condition)

/** Resolves with the workers once exactly two exist, both Ready. */
export const untilTwoReady = (): Promise<readonly WorkerOnNode[]> =>
  until((workers) => workers.length === 2 && workers.every(({ isReady }) => isReady))

/** Expected statuses if no capture is lost. */
export const completed = (count: number): readonly string[] => Array.from({ length: count }, () => 'completed')
