import { eventually } from '#test/helpers/eventually.ts'
import type { NodeCluster } from './node-cluster.ts'
import { readApi } from './read-api.ts'
import type { Release } from './release.ts'

const scaledMs = 180_000

/** The fields of a worker's pod that tests read. */
export type WorkerOnNode = {
  readonly name: string
  readonly node: string | undefined
  readonly image: string | undefined
  readonly isReady: boolean
  /** Milliseconds from its creation until it was ready, to the second; undefined if it is not. */
  readonly startMs: number | undefined
  readonly isEnding: boolean
  /** Number of container restarts. */
  readonly restarts: number
  readonly annotations: Readonly<Record<string, string>>
}

/** Annotation that distinguishes pod templates. */
export const colourAnnotation = 'custom.shutterfleet.dev/colour'

type Pod = {
  readonly metadata: {
    readonly name: string
    readonly creationTimestamp: string
    readonly deletionTimestamp?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image: string }[] }
  readonly status: {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly lastTransitionTime: string
    }[]
    readonly containerStatuses?: readonly { readonly restartCount: number }[]
  }
}

/** When a pod became ready; undefined if it is not. */
const readyAtOf = ({ status }: Pod): string | undefined =>
  status.conditions?.find(({ type, status: is }) => type === 'Ready' && is === 'True')?.lastTransitionTime

const workersOf = async (
  cluster: NodeCluster,
  release: Release,
  pool: 'standard' | 'proxied',
): Promise<readonly WorkerOnNode[]> => {
  const path = `/api/v1/namespaces/${release.workersNamespace}/pods?labelSelector=shutterfleet.dev/pool%3D${pool}`
  const { items } = (await readApi<{ items: Pod[] }>(cluster.place, path)) ?? { items: [] }
  return items.map((pod) => {
    const { metadata, spec, status } = pod
    const readyAt = readyAtOf(pod)
    return {
      name: metadata.name,
      node: spec.nodeName,
      image: spec.containers[0]?.image,
      isReady: readyAt !== undefined,
      startMs: readyAt === undefined ? undefined : Date.parse(readyAt) - Date.parse(metadata.creationTimestamp),
      isEnding: metadata.deletionTimestamp !== undefined,
      restarts: status.containerStatuses?.reduce((sum, { restartCount }) => sum + restartCount, 0) ?? 0,
      annotations: metadata.annotations ?? {},
    }
  })
}

/** Resolves with the workers of a pool once `condition` holds, within three minutes. */
export const untilWorkers = async (
  cluster: NodeCluster,
  release: Release,
  condition: (workers: readonly WorkerOnNode[]) => boolean,
  pool: 'standard' | 'proxied' = 'standard',
): Promise<readonly WorkerOnNode[]> => {
  let workers: readonly WorkerOnNode[] = []
  const holds = async () => {
    workers = await workersOf(cluster, release, pool)
    return condition(workers)
  }
  await eventually(holds, { withinMs: scaledMs, what: condition.toString() }).catch((cause: unknown) => {
    throw new Error(`${String(cause)}: ${JSON.stringify(workers)}`, { cause })
  })
  return workers
}

/** Resolves with the workers once all non-terminating ones are Ready and have the template's colour, or none. */
export const untilWorkersAre = (
  cluster: NodeCluster,
  release: Release,
  colour: string | undefined,
): Promise<readonly WorkerOnNode[]> => {
  const isNew = ({ isEnding, isReady, annotations }: WorkerOnNode) =>
    isEnding || (isReady && annotations[colourAnnotation] === colour)
  return untilWorkers(cluster, release, (all) => all.length > 0 && all.every(isNew))
}
