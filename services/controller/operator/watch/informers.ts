import { Clean, Default } from 'typebox/value'
import { AppError } from '#shared/errors/app-error.ts'
import { type BrowserPool, browserPools, browserPoolSpec, type BrowserPoolSpec } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { labelledPool, managedSelector, objectName } from '#shared/kube/names.ts'
import { createListeners } from '#controller/kube/listeners.ts'
import type { Change } from '#controller/kube/object-cache.ts'
import { type ReflectorOptions, Reflector, type ReflectorEvents } from '#controller/kube/reflector.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { autoscalers, trimAutoscaler } from './observed-autoscaler.ts'
import { pick } from './observed-object.ts'
import { budgets, deployments, type ObservedChild, trimChild, trimDeployment } from './observed-deployment.ts'
import { jobNameLabel, jobs, type ObservedJob, trimJob } from './observed-job.ts'
import { pods, type ObservedPod, trimPod } from './observed-pod.ts'

/** Milliseconds without a watch after which a kind of object is stale. */
const staleAfterMs = 5000
/** Short, because captures wait meanwhile; a retry every few seconds is no load for a recovering server. */
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

/** Called when a BrowserPool, or a child or pod of it, has changed; `label` is `objectName` of the pool's name. */
type PoolListener = (label: string, what: 'pool' | 'child' | 'pod') => void

/** The read side of a reflector, as client-go's lister. */
export type Lister<T extends KubeObject> = Pick<Reflector<T>, 'all' | 'get' | 'hasSynced' | 'downMs'>

/** Namespaces of an installation: of BrowserPools and their Deployments, and of Jobs; they may be the same. */
type InformersScope = { readonly instance: string; readonly pools: string; readonly jobs: string }

/** Local caches of all objects that the controller reads, updated by watches. */
export type Informers = ReturnType<typeof openInformers>

const trimPool = (object: KubeObject): BrowserPool => {
  const { metadata, spec, status } = object as BrowserPool
  const trimmed = pick(metadata, [
    'name',
    'namespace',
    'uid',
    'resourceVersion',
    'generation',
    'creationTimestamp',
    'deletionTimestamp',
  ])
  // A CustomResourceDefinition of another release lacks the defaults of newer fields, and has fields that no rule allows.
  const known = Clean(browserPoolSpec, Default(browserPoolSpec, structuredClone(spec))) as BrowserPoolSpec
  return { metadata: trimmed, spec: known, ...(status && { status }) }
}

const labelOf = ({ metadata }: KubeObject & { readonly metadata?: { readonly labels?: Record<string, string> } }) =>
  labelledPool(metadata?.labels)

/** Excludes pods of Jobs: a pool may have the name of a deleted pool whose Jobs still run. */
const isDeploymentPod = ({ metadata }: ObservedPod): boolean => metadata.labels?.[jobNameLabel] === undefined

/** Pods by the label of their pool, regrouped only after a change. */
const createGroups = (all: () => readonly ObservedPod[]) => {
  let groups: ReadonlyMap<string, readonly ObservedPod[]> | undefined
  return {
    changed: () => {
      groups = undefined
    },
    inPool: (label: string): readonly ObservedPod[] => {
      groups ??= Map.groupBy(all().filter(isDeploymentPod), (pod) => labelOf(pod) ?? '')
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
    options: ReflectorOptions,
    trim: (object: KubeObject) => T,
    changed: (change: Change<T>) => void,
  ) => {
    const { api, clock, random } = deps
    return new Reflector<T>(
      { api, clock, random, trim, changed, events: deps.eventsOf(options.resource) },
      { ...options, backOff },
    )
  }
  const labelSelector = managedSelector(scope.instance)
  const managed = (resource: Resource, namespace: string) => ({ resource, namespace, labelSelector })
  const child = ({ object }: Change<ObservedChild>) => on.notify(labelOf(object), 'child')
  const ofPods = (namespace: string) => reflect(managed(pods, namespace), trimPod, on.pod)
  const ownPods = ofPods(scope.pools)
  const ofDeployments = reflect(managed(deployments, scope.pools), trimDeployment, child)
  return {
    pools: reflect<BrowserPool>({ resource: browserPools, namespace: scope.pools }, trimPool, ({ object }) =>
      on.notify(objectName(object.metadata.name), 'pool'),
    ),
    deployments: ofDeployments,
    budgets: reflect(managed(budgets, scope.pools), trimChild, child),
    autoscalers: reflect({ resource: autoscalers, namespace: scope.pools }, trimAutoscaler, ({ object }) => {
      const sized = ofDeployments.get(`${scope.pools}/${object.deployment}`)
      if (sized) on.notify(labelOf(sized), 'child')
    }),
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
  const all = [...new Set<AsyncDisposable>(Object.values(reflected))]
  const ofPools = [reflected.pools, reflected.deployments, reflected.pods]
  const keyOf = (name: string) => `${namespace}/${name}`

  return {
    namespace,
    jobsNamespace: scope.jobs,
    pools: () => reflected.pools.all(),
    deployment: (name: string) => reflected.deployments.get(keyOf(name)),
    budget: (name: string) => reflected.budgets.get(keyOf(name)),
    /** Names of the HorizontalPodAutoscalers that size this Deployment. */
    autoscalersOf: (deployment: string): readonly string[] =>
      reflected.autoscalers.all().flatMap((each) => (each.deployment === deployment ? [each.metadata.name] : [])),
    /** The pods of the pool with this label, except those of Jobs. */
    podsOf: groups.inPool,
    /** Whether a pod of this name exists, in any pool. */
    hasPod: (name: string) => reflected.pods.get(keyOf(name)) !== undefined,
    jobs: reflected.jobs as Lister<ObservedJob>,
    /** The managed pods in the namespace of the Jobs, not only those of Jobs. */
    jobPods: reflected.jobPods as Lister<ObservedPod>,
    /** Whether every kind was listed at least once. */
    hasSynced: () => Object.values(reflected).every(({ hasSynced }) => hasSynced),
    /** Throws `SERVICE_UNAVAILABLE` if pools, Deployments or pods were never listed, or unwatched for more than 5 s. */
    assertFresh: (): void => {
      if (ofPools.every((each) => each.hasSynced && each.downMs() <= staleAfterMs)) return
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
