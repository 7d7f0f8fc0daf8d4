// What tests of one release share: those that are imported into one process have one cluster.
import t from 'tap'
import { startNodeCluster } from './node-cluster.ts'
import { startOutsideServices } from './outside-services.ts'
import { prepareRelease, releaseOf, type Values } from './release.ts'
import { colourAnnotation, untilWorkers, type WorkerOnNode } from './workers.ts'

/**
 * Of the 2 cores of a node: all services ask for 1.2, so that after a drain there is room for two workers beside them on the
 * other, whoever is scheduled first, and none for a third.
 */
const resources = { requests: { cpu: '350m', memory: '700Mi' }, limits: { memory: '3584Mi' } }

/** A pool `standard` between two sizes, spread over nodes and quickly smaller, with further fields of its spec. */
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

/** Two nodes, and one that comes later. */
export const cluster = await startNodeCluster(t, { count: 2, later: 1 })
export const outside = await startOutsideServices(cluster.network)
t.teardown(() => outside[Symbol.asyncDispose]())
export const release = releaseOf(cluster, outside, 'helm4')
await prepareRelease(cluster, release.namespace, outside.secrets)
// Workers are replaced without one more, as in a namespace whose quota leaves no room.
await release.deploy('install', standardPool([2, 2], { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }))

/** As `untilWorkers`, of this release. */
export const until = (condition: (workers: readonly WorkerOnNode[]) => boolean): Promise<readonly WorkerOnNode[]> =>
  untilWorkers(cluster, release, condition)

/** Resolves with the workers once there are two, both Ready. */
export const untilTwoReady = (): Promise<readonly WorkerOnNode[]> =>
  until((workers) => workers.length === 2 && workers.every(({ isReady }) => isReady))

/** How captures end that are not lost. */
export const completed = (count: number): readonly string[] => Array.from({ length: count }, () => 'completed')
