import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  type BrowserPool,
  browserPools,
  type BrowserPoolSpec,
  type PoolCondition,
  type PoolConditionType,
} from '#shared/kube/browser-pool.ts'
import { managedSelector, poolLabels, labelSelector, workersName } from '#shared/kube/names.ts'
import { type ClusterOptions, startCluster, type TestCluster } from './cluster.ts'
import { type Fleet, type FleetOptions, startFleet } from './cluster-fleet.ts'
import { type ClusterQueue, startClusterQueue } from './cluster-queue.ts'
import { grantController } from './controller-role.ts'
import { eventually } from './eventually.ts'
import { type OperatorOptions, type OperatorProcess, startOperator } from './operator-process.ts'
import type { PodObject } from './worker-pod-object.ts'

/** Default installation name of operators. */
const instance = 'shutterfleet'
const crdFile = resolve(import.meta.dirname, '../../crds/browserpools.shutterfleet.dev.yaml')

/** An entry of managedFields. */
export type Managed = {
  readonly manager: string
  readonly subresource?: string
  readonly fieldsV1: { readonly 'f:spec'?: Readonly<Record<string, unknown>> }
}

/** The fields of a Deployment of workers that tests read. */
export type WorkersDeployment = {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly labels: Readonly<Record<string, string>>
    readonly managedFields: readonly Managed[]
    readonly ownerReferences: readonly object[]
  }
  readonly spec: {
    readonly selector: object
    readonly replicas: number
    readonly minReadySeconds?: number
    readonly template: PodObject
  }
}

/** A partial BrowserPool spec; omitted fields have their defaults. */
export type WantedSpec = { readonly [K in keyof BrowserPoolSpec]?: Partial<BrowserPoolSpec[K]> }

/** The fields of a Kubernetes event that tests read. */
export type KubeEvent = {
  readonly type: string
  readonly reason: string
  readonly note: string
  readonly regarding: { readonly name: string }
  readonly series?: { readonly count: number }
}

/** A cluster with the CustomResourceDefinition, the queue, simulated workers, and an operator. */
export type OperatorCluster = {
  readonly cluster: TestCluster
  readonly queue: ClusterQueue
  readonly fleet: Fleet
  readonly operator: OperatorProcess
  /** Starts an additional operator on the same cluster, killed at the test's end. */
  readonly startAnother: (
    name: string,
    how?: Pick<OperatorOptions, 'kubeconfig' | 'skewMs'>,
  ) => Promise<OperatorProcess>
  /** The additional operators, in start order. */
  readonly others: () => readonly OperatorProcess[]
  /** Applies a BrowserPool with a partial spec. */
  readonly applyPool: (name: string, spec: WantedSpec) => Promise<void>
  readonly poolOf: (name: string) => Promise<BrowserPool>
  readonly conditionOf: (name: string, type: PoolConditionType) => Promise<PoolCondition | undefined>
  /** Waits until a condition has this status and reason. */
  readonly holds: (name: string, type: PoolConditionType, state: `${string} ${string}`) => Promise<void>
  readonly deploymentOf: (name: string) => Promise<WorkersDeployment>
  /** Pods of the pool that are neither terminated nor being deleted. */
  readonly podsOf: (name: string) => Promise<PodObject[]>
  /** Waits until exactly `workers` workers exist, all ready. */
  readonly settles: (name: string, workers: number) => Promise<void>
  readonly eventsOf: (name: string) => Promise<KubeEvent[]>
  /** Waits until events with all of these reasons exist for a pool. */
  readonly tells: (name: string, ...reasons: readonly string[]) => Promise<void>
  /** Deletes all BrowserPools with their dependents, and waits until their workers are gone. */
  readonly removePools: () => Promise<void>
}

type WithTeardown = { teardown: (clean: () => Promise<void>) => void }

/** Starts the cluster; stopped at the test's end. */
export const startOperatorCluster = async (
  t: WithTeardown,
  options: ClusterOptions & Partial<FleetOptions> & { readonly settings?: Readonly<Record<string, string>> } = {},
): Promise<OperatorCluster> => {
  const cluster = await startCluster(t, { kwokSimulatesWorkers: false, ...options })
  await cluster.applyCrd(await readFile(crdFile, 'utf8'))
  await grantController(cluster, 'default')
  const queue = await startClusterQueue({ countMs: 200 })
  const fleet = await startFleet({ ...options, cluster, queue })
  const { settings = {} } = options
  const start = (name: string, how: Pick<OperatorOptions, 'kubeconfig' | 'skewMs'> = {}) =>
    startOperator({ cluster, queue, name, settings, ...how })
  const operator = await start('one')
  const others: OperatorProcess[] = []
  t.teardown(async () => {
    for (const each of [operator, ...others]) await each.stop()
    await fleet[Symbol.asyncDispose]()
    await queue[Symbol.asyncDispose]()
  })
  return {
    cluster,
    queue,
    fleet,
    operator,
    startAnother: async (name, how) => {
      const another = await start(name, how)
      others.push(another)
      return another
    },
    others: () => others,
    ...readersOf(cluster),
  }
}

const readersOf = (cluster: TestCluster) => {
  const poolOf = (name: string) => cluster.get<BrowserPool>('bp', name)
  const conditionOf = async (name: string, type: PoolConditionType) =>
    (await poolOf(name)).status?.conditions?.find((condition) => condition.type === type)
  const podsOf = async (name: string) => {
    const { items } = await cluster.get<{ items: PodObject[] }>('pods', '-l', labelSelector(poolLabels(instance, name)))
    return items.filter(
      ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.phase !== 'Failed',
    )
  }
  const eventsOf = async (name: string) => {
    const { items } = await cluster.get<{ items: KubeEvent[] }>('events.events.k8s.io')
    return items.filter(({ regarding }) => regarding.name === name)
  }
  return {
    poolOf,
    conditionOf,
    podsOf,
    applyPool: (name: string, spec: WantedSpec) =>
      cluster.apply({
        apiVersion: browserPools.apiVersion,
        kind: browserPools.kind,
        metadata: { name, namespace: 'default' },
        spec: { pool: 'standard', ...spec },
      }),
    holds: (name: string, type: PoolConditionType, state: string) =>
      eventually(
        async () => {
          const condition = await conditionOf(name, type)
          return `${condition?.status} ${condition?.reason}` === state
        },
        { what: `${type} of ${name} is ${state}` },
      ),
    deploymentOf: (name: string) =>
      cluster.get<WorkersDeployment>('deployment', workersName(name), '--show-managed-fields'),
    settles: (name: string, workers: number) =>
      eventually(
        async () => {
          const { readyReplicas, replicas } = (await poolOf(name)).status ?? {}
          return readyReplicas === workers && replicas === workers && (await podsOf(name)).length === workers
        },
        { what: `${name} has ${workers} workers`, withinMs: 30_000 },
      ),
    eventsOf,
    tells: (name: string, ...reasons: readonly string[]) =>
      eventually(
        async () => {
          const recorded = new Set((await eventsOf(name)).map(({ reason }) => reason))
          return reasons.every((reason) => recorded.has(reason))
        },
        { what: `${name} has events ${reasons.join(', ')}` },
      ),
    removePools: async () => {
      await cluster.kubectl(['delete', 'bp', '--all'])
      // The garbage collector discovers a new kind only within half a minute, so delete what it would.
      await cluster.kubectl(['delete', 'deployment,pdb', '-l', managedSelector(instance)])
      const gone = async () =>
        (await cluster.get<{ items: [] }>('pods', '-l', managedSelector(instance))).items.length === 0
      await eventually(gone, { what: 'all workers are gone', withinMs: 30_000 })
    },
  }
}
