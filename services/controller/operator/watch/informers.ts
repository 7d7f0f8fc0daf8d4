import { Default } from 'typebox/value'
import { AppError } from '#shared/errors/app-error.ts'
import { type BrowserPool, browserPools, browserPoolSpec, type BrowserPoolSpec } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { labelledPool, managedSelector, objectName } from '#shared/kube/names.ts'
import { createListeners } from '#controller/kube/listeners.ts'
import type { Change } from '#controller/kube/object-cache.ts'
import { type Reflected, Reflector, type ReflectorEvents } from '#controller/kube/reflector.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { pick } from './observed-object.ts'
import { budgets, deployments, type ObservedChild, trimChild, trimDeployment } from './observed-deployment.ts'
import { jobNameLabel, jobs, type ObservedJob, trimJob } from './observed-job.ts'
import { pods, type ObservedPod, trimPod } from './observed-pod.ts'

/** A kind of object without a watch for longer is stale. */
const unknownAfterMs = 5000
/** Captures wait meanwhile: a retry every few seconds is no load for a server that recovers. */
const backOff = { firstMs: 500, lastMs: 4000 }

type InformersDeps = {
  readonly api: Pick<KubeApi, 'list' | 'watch'>
  readonly clock: Clock
  readonly random: () => number
  /** Events of the reflector of a kind of object. */
  readonly eventsOf: (resource: Resource) => ReflectorEvents
  /** Called with every change of a pod, before all listeners. */
  readonly podChanged: (change: Change<ObservedPod>) => void
}

/** Called where a BrowserPool, a child or a pod of it has changed, with the label that `objectName` makes of its name. */
type PoolListener = (label: string, what: 'pool' | 'child' | 'pod') => void

/** The read side of a reflector, as client-go's lister. */
export type Lister<T extends KubeObject> = Pick<Reflector<T>, 'all' | 'get' | 'hasSynced' | 'downMs'>

/** Namespaces of an installation: of BrowserPools and their Deployments, and of Jobs; they may be the same. */
type InformersScope = { readonly instance: string; readonly pools: string; readonly jobs: string }

/** Local caches of all objects that the controller reads, kept by watches. */
export type Informers = ReturnType<typeof openInformers>

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
  // An older CustomResourceDefinition has no defaults of newer fields.
  const filled = Default(browserPoolSpec, structuredClone(spec)) as BrowserPoolSpec
  return { metadata: kept, spec: filled, ...(status && { status }) }
}

const labelOf = ({ metadata }: KubeObject & { readonly metadata?: { readonly labels?: Record<string, string> } }) =>
  labelledPool(metadata?.labels)

/** A pool may have the name of one whose Jobs still run. */
const isMember = ({ metadata }: ObservedPod): boolean => metadata.labels?.[jobNameLabel] === undefined

/** Objects by the label of their pool, grouped anew only after something has changed. */
const createGroups = (all: () => readonly ObservedPod[]) => {
  let groups: ReadonlyMap<string, readonly ObservedPod[]> | undefined
  return {
    changed: () => {
      groups = undefined
    },
    of: (label: string): readonly ObservedPod[] => {
      groups ??= Map.groupBy(all().filter(isMember), (pod) => labelOf(pod) ?? '')
      return groups.get(label) ?? []
    },
  }
}

/** Starts a reflector for each kind of object. */
const reflectAll = (
  deps: InformersDeps,
  scope: InformersScope,
  on: {
    readonly notify: (label: string | undefined, what: Parameters<PoolListener>[1]) => void
    readonly pod: (change: Change<ObservedPod>) => void
    readonly job: (change: Change<ObservedJob>) => void
  },
) => {
  const reflect = <T extends KubeObject>(
    of: Reflected,
    trim: (object: KubeObject) => T,
    changed: (change: Change<T>) => void,
  ) => {
    const { api, clock, random } = deps
    return new Reflector<T>(
      { api, clock, random, trim, changed, events: deps.eventsOf(of.resource) },
      { ...of, backOff },
    )
  }
  const labelSelector = managedSelector(scope.instance)
  const managed = (resource: Resource, namespace: string) => ({ resource, namespace, labelSelector })
  const child = ({ object }: Change<ObservedChild>) => on.notify(labelOf(object), 'child')
  const ofPods = (namespace: string) => reflect(managed(pods, namespace), trimPod, on.pod)
  const ownPods = ofPods(scope.pools)
  return {
    pools: reflect<BrowserPool>({ resource: browserPools, namespace: scope.pools }, trimPool, ({ object }) =>
      on.notify(objectName(object.metadata.name), 'pool'),
    ),
    deployments: reflect(managed(deployments, scope.pools), trimDeployment, child),
    budgets: reflect(managed(budgets, scope.pools), trimChild, child),
    pods: ownPods,
    jobs: reflect(managed(jobs, scope.jobs), trimJob, on.job),
    jobPods: scope.jobs === scope.pools ? ownPods : ofPods(scope.jobs),
  }
}

/** Starts the informers of everything that the controller reads. */
export const openInformers = (deps: InformersDeps, scope: InformersScope) => {
  const namespace = scope.pools
  const poolListeners = createListeners<Parameters<PoolListener>>()
  const jobListeners = createListeners<[Change<ObservedJob>]>()
  const notify = (label: string | undefined, what: Parameters<PoolListener>[1]) => {
    if (label !== undefined) poolListeners.notify(label, what)
  }
  const reflected = reflectAll(deps, scope, {
    notify,
    pod: (change) => {
      groups.changed()
      deps.podChanged(change)
      notify(labelOf(change.object), 'pod')
    },
    job: (change) => {
      jobListeners.notify(change)
      notify(labelOf(change.object), 'pod')
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
    pool: (name: string) => reflected.pools.get(keyOf(name)),
    /** The pools of this label: one, unless names that differ give the same. */
    poolsOf: (label: string): readonly BrowserPool[] =>
      reflected.pools.all().filter(({ metadata }) => objectName(metadata.name) === label),
    deployment: (name: string) => reflected.deployments.get(keyOf(name)),
    budget: (name: string) => reflected.budgets.get(keyOf(name)),
    /** The pods that carry the labels of the pool of this label. */
    podsOf: groups.of,
    /** Whether there is a pod of this name, of whatever pool. */
    hasPod: (name: string) => reflected.pods.get(keyOf(name)) !== undefined,
    jobs: reflected.jobs as Lister<ObservedJob>,
    /** The pods of the Jobs, and others. */
    jobPods: reflected.jobPods as Lister<ObservedPod>,
    /** Whether every kind was listed at least once. */
    hasSynced: () => all.every(({ hasSynced }) => hasSynced),
    /** Throws `SERVICE_UNAVAILABLE` where a kind was never listed, or has had no watch for more than 5 s. */
    assertFresh: (): void => {
      if (ofPools.every((each) => each.hasSynced && each.downMs() <= unknownAfterMs)) return
      throw new AppError('SERVICE_UNAVAILABLE', {
        message: 'an informer has had no watch of the API server for more than 5 s',
      })
    },
    /** Calls a listener at each change, until disposed. */
    onChange: poolListeners.add,
    /** Calls a listener at each change of a Job, until disposed. */
    onJobChange: jobListeners.add,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await Promise.all(all.map((each) => each[Symbol.asyncDispose]()))
    },
  }
}
