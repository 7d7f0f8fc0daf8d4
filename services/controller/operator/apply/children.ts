import { AppError } from '#shared/errors/app-error.ts'
import { apply } from '#controller/kube/apply.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import {
  appliedAnnotation,
  fieldOwner,
  labelledPool,
  objectName,
  replicasOwner,
  workersName,
} from '#shared/kube/names.ts'
import type { KubeObject, Ref, Resource } from '#shared/kube/resource.ts'
import {
  budgetFields,
  type childFields,
  deploymentFields,
  fieldsFor,
} from '#controller/operator/manifests/deployment.ts'
import { replicasOnly } from '#controller/operator/watch/managed-fields.ts'
import { createMutationCache, type MutationCache, mutationTtlMs } from '#controller/operator/watch/mutation-cache.ts'
import {
  budgets,
  deployments,
  type ObservedChild,
  type ObservedDeployment,
  trimChild,
  trimDeployment,
} from '#controller/operator/watch/observed-deployment.ts'
import { createRolloutTurns } from './rollout-turns.ts'
import type { Informers } from '#controller/operator/watch/informers.ts'
import type { PodSettings } from '#controller/operator/manifests/worker-pod.ts'

/** What the reconciler works with. */
export type ChildReconcilerDeps = {
  readonly api: Pick<KubeApi, 'create' | 'patch' | 'get'>
  readonly clock: Clock
  readonly informers: Pick<Informers, 'namespace' | 'pools' | 'deployment' | 'budget' | 'hasSynced'>
  readonly settings: PodSettings
  /** Size with which the pool's Deployment is created. */
  readonly firstReplicas: (pool: BrowserPool) => number
  readonly created: (pool: BrowserPool, replicas: number) => void
}

/**
 * Applies the children of a pool, its Deployment and its PodDisruptionBudget, without the size. Answers after how many
 * milliseconds to reconcile again, undefined where an informer reports it; throws where that fails, which may be retried.
 */
export type ApplyChildren = (pool: BrowserPool, signal: AbortSignal) => Promise<number | undefined>

/** Applies the children of pools, and remembers what it applied. */
export type ChildReconciler = {
  readonly apply: ApplyChildren
  /** Forgets all pools but these, by uid. */
  readonly keep: (uids: ReadonlySet<string>) => void
}

/** Changes with whatever may change the outcome of a try: the pool, and its children as far as others have changed them. */
export const desiredState = (informers: Pick<Informers, 'pool' | 'deployment' | 'budget'>, name: string): string => {
  const pool = informers.pool(name)?.metadata
  const children = [informers.deployment(workersName(name)), informers.budget(workersName(name))]
  const found = children.map(
    (child) => child && [child.metadata.uid, child.metadata.deletionTimestamp, child.owner, child.specHash],
  )
  return JSON.stringify([pool?.uid, pool?.generation, found])
}

/** One kind of child. */
type ChildKind<T extends ObservedChild> = {
  readonly resource: Resource
  readonly trim: (object: KubeObject) => T
  readonly cached: (name: string) => T | undefined
  /** What this process wrote last, by the pool's uid. */
  readonly own: MutationCache<T>
  /** The object and its spec when it was as wanted, by the pool's uid. */
  readonly specs: Map<string, { readonly uid: string; readonly specHash: string }>
  /** Field manager that creates it. */
  readonly creator: string
}

type Fields = ReturnType<typeof childFields>

/** Creates the reconciler of one term: what was written in earlier ones is not remembered. */
export const createChildReconciler = (deps: ChildReconcilerDeps): ChildReconciler => {
  const { api, clock, informers } = deps
  const kinds = {
    deployment: {
      resource: deployments,
      trim: trimDeployment,
      cached: informers.deployment,
      own: createMutationCache<ObservedDeployment>(clock),
      specs: new Map<string, { uid: string; specHash: string }>(),
      creator: replicasOwner,
    },
    budget: {
      resource: budgets,
      trim: trimChild,
      cached: informers.budget,
      own: createMutationCache<ObservedChild>(clock),
      specs: new Map<string, { uid: string; specHash: string }>(),
      creator: fieldOwner,
    },
  }
  const applyChild = createApplyChild(api, informers.namespace)
  const turns = createRolloutTurns(clock)
  const newest = (of: BrowserPool) => {
    const cached = informers.deployment(workersName(of.metadata.name))
    return kinds.deployment.own.newerThan(of.metadata.uid, cached?.metadata.resourceVersion) ?? cached
  }
  const firstWanted = new Map<string, string | undefined>()
  /** What differs at the first look was changed by another release or other settings: that is rolled out pool by pool. */
  const turnOf = (pool: BrowserPool, fields: Fields) => () => {
    const { uid } = pool.metadata
    const wanted = fields.metadata?.annotations?.[appliedAnnotation]
    if (!firstWanted.has(uid)) firstWanted.set(uid, wanted)
    if (kinds.deployment.specs.has(uid) || firstWanted.get(uid) !== wanted) return anyTime
    if (!informers.hasSynced()) return undefined
    const others = informers.pools().filter(({ metadata }) => metadata.uid !== uid)
    return turns.take(others.flatMap((other) => newest(other) ?? []))
  }

  const applyChildren: ApplyChildren = async (pool, signal) => {
    const withSize = (fields: Fields) => {
      const replicas = deps.firstReplicas(pool)
      return { ...fields, spec: { ...fields.spec, replicas } }
    }
    const fields = deploymentFields(pool, deps.settings)
    const first = () => withSize(fields)
    const adapt = (found: ObservedDeployment) => fieldsFor(found, fields)
    const turn = turnOf(pool, fields)
    const deployment = await applyChild(kinds.deployment, { pool, fields, first, adapt, turn }, signal)
    const { seen } = deployment
    if (deployment.isNew && seen) deps.created(pool, seen.replicas)
    const cut = seen?.excessEntry === undefined ? undefined : await trimManagedFields(api, seen, signal)
    if (cut) kinds.deployment.own.remember(pool.metadata.uid, cut.metadata.resourceVersion, cut)

    const budgetWanted = budgetFields(pool, deps.settings.instance)
    const asBudget = () => budgetWanted
    const ofBudget = { pool, fields: budgetWanted, first: asBudget, adapt: asBudget, turn: () => anyTime }
    const budget = await applyChild(kinds.budget, ofBudget, signal)
    if (deployment.waits) return turnMs
    // If it is deleted before the informer shows it, no change is reported.
    return deployment.wrote || budget.wrote ? mutationTtlMs : undefined
  }
  return {
    apply: applyChildren,
    keep: (uids) => {
      for (const known of [firstWanted, ...Object.values(kinds).map(({ specs }) => specs)])
        for (const uid of known.keys()) if (!uids.has(uid)) known.delete(uid)
    },
  }
}

/** A child of a pool. */
type Child<T> = {
  readonly pool: BrowserPool
  /** As wanted. */
  readonly fields: Fields
  /** As created. */
  readonly first: () => Fields
  /** What is applied to the existing one. */
  readonly adapt: (found: T) => Fields
  /** Held while it is changed; without one it is not changed now. */
  readonly turn: () => Disposable | undefined
}

/** Outcome for one child; `seen` is undefined where it is terminating. It may wait for its turn to be changed. */
type AppliedChild<T> = {
  readonly seen: T | undefined
  readonly isNew: boolean
  readonly wrote: boolean
  readonly waits?: boolean
}

const anyTime: Disposable = { [Symbol.dispose]: () => {} }
/** Milliseconds between two checks whether it is a Deployment's turn. */
const turnMs = 5000

const createApplyChild = (api: ChildReconcilerDeps['api'], namespace: string) => {
  const create = async <T extends ObservedChild>(kind: ChildKind<T>, ref: Ref, fields: Fields, signal: AbortSignal) => {
    const { apiVersion, kind: name } = kind.resource
    const object = { apiVersion, kind: name, ...fields, metadata: { ...fields.metadata, name: ref.name, namespace } }
    try {
      const made = await api.create<KubeObject>(ref, object, { fieldManager: kind.creator, signal })
      return { seen: kind.trim(made), isNew: true }
    } catch (thrown) {
      // One that has lost its labels is in no informer.
      if (outcomeOf(thrown) !== 'already-exists') throw thrown
      return { seen: kind.trim(await api.get<KubeObject>(ref, signal)), isNew: false }
    }
  }

  return async <T extends ObservedChild>(
    kind: ChildKind<T>,
    of: Child<T>,
    signal: AbortSignal,
  ): Promise<AppliedChild<T>> => {
    const { name, uid } = of.pool.metadata
    const ref = { resource: kind.resource, namespace, name: workersName(name) }
    const cached = kind.cached(ref.name)
    const known = kind.own.newerThan(uid, cached?.metadata.resourceVersion) ?? cached
    const { seen: found, isNew } = known ? { seen: known, isNew: false } : await create(kind, ref, of.first(), signal)
    if (found.metadata.deletionTimestamp !== undefined) return { seen: undefined, isNew, wrote: false }
    assertOwned(found, of.pool)
    const spec = kind.specs.get(uid)
    if (!needsApply(found, of.fields, spec?.uid === found.metadata.uid ? spec.specHash : undefined)) {
      kind.specs.set(uid, { uid: found.metadata.uid, specHash: found.specHash })
      if (isNew) kind.own.remember(uid, found.metadata.resourceVersion, found)
      return { seen: found, isNew, wrote: isNew }
    }
    // One in no informer, as without its labels, cannot be sized until it is.
    using turn = cached ? of.turn() : anyTime
    if (!turn) return { seen: found, isNew, wrote: false, waits: true }
    const seen = kind.trim(await apply<KubeObject>(api, ref, of.adapt(found), signal))
    kind.specs.set(uid, { uid: seen.metadata.uid, specHash: seen.specHash })
    kind.own.remember(uid, seen.metadata.resourceVersion, seen)
    return { seen, isNew, wrote: true }
  }
}

/**
 * Reduces the fields of the manager that created a Deployment to the size: what it owns beside that could never be removed.
 * Undefined where the Deployment has changed meanwhile, which an informer is about to show.
 */
const trimManagedFields = async (
  api: ChildReconcilerDeps['api'],
  seen: ObservedDeployment,
  signal: AbortSignal,
): Promise<ObservedDeployment | undefined> => {
  const { name, namespace, resourceVersion } = seen.metadata
  const body = [
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'replace', path: `/metadata/managedFields/${seen.excessEntry}/fieldsV1`, value: replicasOnly },
  ]
  try {
    const ref = { resource: deployments, namespace, name }
    return trimDeployment(await api.patch<KubeObject>(ref, { kind: 'json', body }, signal))
  } catch (thrown) {
    if (outcomeOf(thrown) === 'conflict') return undefined
    throw thrown
  }
}

/** Adopts what an older pool of the same name has left, not what belongs to another. */
const assertOwned = ({ owner, metadata }: ObservedChild, pool: BrowserPool) => {
  const isLeftOver = owner === undefined && labelledPool(metadata.labels) === objectName(pool.metadata.name)
  if (owner === pool.metadata.uid || isLeftOver) return
  throw new AppError('SERVICE_UNAVAILABLE', { message: `${metadata.name} exists and does not belong to this pool` })
}

/**
 * Whether a child has drifted. `specHash` is that of the object when it was last as wanted; undefined where this process has
 * not observed that, as after a change of the leader: then only fields of its spec that others manage are a reason.
 */
export const needsApply = (
  seen: ObservedChild,
  wanted: ReturnType<typeof childFields>,
  specHash: string | undefined,
): boolean => {
  const { labels = {}, annotations = {} } = wanted.metadata ?? {}
  if (seen.applied !== annotations[appliedAnnotation]) return true
  if (Object.entries(labels).some(([name, value]) => seen.metadata.labels?.[name] !== value)) return true
  return specHash === undefined ? seen.hasForeignSpec : seen.specHash !== specHash
}
