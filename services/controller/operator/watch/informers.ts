import { Default } from 'typebox/value'
import { AppError } from '#shared/errors/app-error.ts'
import { type BrowserPool, browserPools, browserPoolSpec, type BrowserPoolSpec } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#shared/kube/clock.ts'
import { labelledPool, managedSelector, objectName } from '#shared/kube/names.ts'
import type { Change } from '#shared/kube/object-cache.ts'
import { type Reflected, Reflector, type ReflectorEvents } from '#shared/kube/reflector.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { pick } from './pick.ts'
import {
  budgets,
  deployments,
  type SeenChild,
  type SeenDeployment,
  trimChild,
  trimDeployment,
} from './observed-deployment.ts'
import { jobNameLabel, jobs, type SeenJobObject, trimJob } from './observed-job.ts'
import { pods, type SeenPod, trimPod } from './observed-pod.ts'

/** A kind of object whose watch has been away for longer is unknown. */
const unknownAfterMs = 5000
/** Captures wait for whoever reads: one who asks every few seconds is no burden for a server that is away. */
const backOff = { firstMs: 500, lastMs: 4000 }

/** What a watch of the cluster works with. */
export type WatchDeps = {
  readonly api: Pick<KubeApi, 'list' | 'watch'>
  readonly clock: Clock
  readonly random: () => number
  /** What is told of the reflection of a kind of object. */
  readonly eventsOf: (resource: Resource) => ReflectorEvents
  /** Hears of every change of a pod first of all. */
  readonly podChanged: (change: Change<SeenPod>) => void
}

/** Hears that something about a BrowserPool has changed, whose name `objectName` makes this label: it, a child, or a pod. */
export type PoolListener = (label: string, what: 'pool' | 'child' | 'pod') => void

/** What a reflector holds, as far as it is looked at. */
export type Mirror<T extends KubeObject> = Pick<Reflector<T>, 'all' | 'get' | 'hasSynced' | 'downMs'>

/** Where an installation's objects are: BrowserPools and their Deployments, and Jobs, perhaps in one namespace. */
export type WatchScope = { readonly instance: string; readonly pools: string; readonly jobs: string }

/** A copy of everything that the controller reads. */
export type Watch = AsyncDisposable & {
  readonly namespace: string
  readonly jobsNamespace: string
  readonly pools: () => readonly BrowserPool[]
  readonly pool: (name: string) => BrowserPool | undefined
  /** The pools of this label: one, unless names that differ give the same. */
  readonly poolsOf: (label: string) => readonly BrowserPool[]
  readonly deployment: (name: string) => SeenDeployment | undefined
  readonly budget: (name: string) => SeenChild | undefined
  /** The pods that carry the labels of the pool of this label. */
  readonly podsOf: (label: string) => readonly SeenPod[]
  /** Whether there is a pod of this name, of whatever pool. */
  readonly hasPod: (name: string) => boolean
  readonly jobs: Mirror<SeenJobObject>
  /** The pods of the Jobs, and others. */
  readonly jobPods: Mirror<SeenPod>
  /** Whether everything was read at least once. */
  readonly hasSynced: () => boolean
  /** Throws `SERVICE_UNAVAILABLE` where a kind was never read, or its watch has been away for more than 5 s. */
  readonly mustBeKnown: () => void
  /** Has a listener called, until disposed. */
  readonly follow: (listener: PoolListener) => Disposable
  /** Has a listener called at each change of a Job, until disposed. */
  readonly followJobs: (listener: (change: Change<SeenJobObject>) => void) => Disposable
}

const trimPool = (object: KubeObject): BrowserPool => {
  const { metadata, spec, status } = object as BrowserPool
  const kept = pick(metadata, [
    'name',
    'namespace',
    'uid',
    'resourceVersion',
    'generation',
    'creationTimestamp',
    'deletionTimestamp',
  ])
  // An older CustomResourceDefinition knows no defaults of newer fields.
  const filled = Default(browserPoolSpec, structuredClone(spec)) as BrowserPoolSpec
  return { metadata: kept, spec: filled, ...(status && { status }) }
}

const labelOf = ({ metadata }: KubeObject & { readonly metadata?: { readonly labels?: Record<string, string> } }) =>
  labelledPool(metadata?.labels)

/** Calls every listener that has not been disposed. */
const createListeners = <Args extends readonly unknown[]>() => {
  const all = new Set<(...args: Args) => void>()
  return {
    tell: (...args: Args) => {
      for (const listener of all) listener(...args)
    },
    follow: (listener: (...args: Args) => void): Disposable => {
      all.add(listener)
      return { [Symbol.dispose]: () => all.delete(listener) }
    },
  }
}

/** A pool may have the name of one whose Jobs still serve. */
const isMember = ({ metadata }: SeenPod): boolean => metadata.labels?.[jobNameLabel] === undefined

/** Objects by the label of their pool, grouped anew only after something has changed. */
const createGroups = (all: () => readonly SeenPod[]) => {
  let groups: ReadonlyMap<string, readonly SeenPod[]> | undefined
  return {
    changed: () => {
      groups = undefined
    },
    of: (label: string): readonly SeenPod[] => {
      groups ??= Map.groupBy(all().filter(isMember), (pod) => labelOf(pod) ?? '')
      return groups.get(label) ?? []
    },
  }
}

/** Begins to reflect all kinds of objects. */
const reflectAll = (
  deps: WatchDeps,
  scope: WatchScope,
  changed: {
    readonly tell: (label: string | undefined, what: Parameters<PoolListener>[1]) => void
    readonly pod: (change: Change<SeenPod>) => void
    readonly job: (change: Change<SeenJobObject>) => void
  },
) => {
  const reflect = <T extends KubeObject>(
    of: Reflected,
    trim: (object: KubeObject) => T,
    heard: (change: Change<T>) => void,
  ) => {
    const { api, clock, random } = deps
    return new Reflector<T>(
      { api, clock, random, trim, changed: heard, events: deps.eventsOf(of.resource) },
      { ...of, backOff },
    )
  }
  const labelSelector = managedSelector(scope.instance)
  const managed = (resource: Resource, namespace: string) => ({ resource, namespace, labelSelector })
  const child = ({ object }: Change<SeenChild>) => changed.tell(labelOf(object), 'child')
  const ofPods = (namespace: string) => reflect(managed(pods, namespace), trimPod, changed.pod)
  const ownPods = ofPods(scope.pools)
  return {
    pools: reflect<BrowserPool>({ resource: browserPools, namespace: scope.pools }, trimPool, ({ object }) =>
      changed.tell(objectName(object.metadata.name), 'pool'),
    ),
    deployments: reflect(managed(deployments, scope.pools), trimDeployment, child),
    budgets: reflect(managed(budgets, scope.pools), trimChild, child),
    pods: ownPods,
    jobs: reflect(managed(jobs, scope.jobs), trimJob, changed.job),
    jobPods: scope.jobs === scope.pools ? ownPods : ofPods(scope.jobs),
  }
}

/** Begins to reflect what the controller reads. */
export const openWatch = (deps: WatchDeps, scope: WatchScope): Watch => {
  const namespace = scope.pools
  const poolListeners = createListeners<Parameters<PoolListener>>()
  const jobListeners = createListeners<[Change<SeenJobObject>]>()
  const tell = (label: string | undefined, what: Parameters<PoolListener>[1]) => {
    if (label !== undefined) poolListeners.tell(label, what)
  }
  const reflected = reflectAll(deps, scope, {
    tell,
    pod: (change) => {
      groups.changed()
      deps.podChanged(change)
      tell(labelOf(change.object), 'pod')
    },
    job: (change) => {
      jobListeners.tell(change)
      tell(labelOf(change.object), 'pod')
    },
  })
  const groups = createGroups(() => reflected.pods.all())
  const all = [...new Set<Reflector<KubeObject>>(Object.values(reflected) as unknown as Reflector<KubeObject>[])]
  const ofPools = [reflected.pools, reflected.deployments, reflected.pods]
  const keyOf = (name: string) => `${namespace}/${name}`

  return {
    namespace,
    jobsNamespace: scope.jobs,
    pools: () => reflected.pools.all(),
    pool: (name) => reflected.pools.get(keyOf(name)),
    poolsOf: (label) => reflected.pools.all().filter(({ metadata }) => objectName(metadata.name) === label),
    deployment: (name) => reflected.deployments.get(keyOf(name)),
    budget: (name) => reflected.budgets.get(keyOf(name)),
    podsOf: groups.of,
    hasPod: (name) => reflected.pods.get(keyOf(name)) !== undefined,
    jobs: reflected.jobs,
    jobPods: reflected.jobPods,
    hasSynced: () => all.every(({ hasSynced }) => hasSynced),
    mustBeKnown: () => {
      if (ofPools.every((each) => each.hasSynced && each.downMs() <= unknownAfterMs)) return
      throw new AppError('SERVICE_UNAVAILABLE', { message: 'a watch of the API server is away' })
    },
    follow: poolListeners.follow,
    followJobs: jobListeners.follow,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((each) => each[Symbol.asyncDispose]()))
    },
  }
}
