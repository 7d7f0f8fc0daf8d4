import { AppError } from '#shared/errors/app-error.ts'
import { apply } from '#shared/kube/apply.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#shared/kube/clock.ts'
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
import { type childFields, deploymentFields, fieldsFor } from '#controller/operator/manifests/deployment.ts'
import { budgetFields } from '#controller/operator/manifests/disruption-budget.ts'
import { replicasOnly } from '#controller/operator/watch/managed-fields.ts'
import { needsApply } from './needs-apply.ts'
import { createOwnWrites, type OwnWrites, trustMs } from '#controller/operator/watch/mutation-cache.ts'
import {
  budgets,
  deployments,
  type SeenChild,
  type SeenDeployment,
  trimChild,
  trimDeployment,
} from '#controller/operator/watch/observed-deployment.ts'
import { createRolloutTurns } from './rollout-turns.ts'
import type { Watch } from '#controller/operator/watch/informers.ts'
import type { PodSettings } from '#controller/operator/manifests/worker-pod.ts'

/** What shaping works with. */
export type ShapeDeps = {
  readonly api: Pick<KubeApi, 'create' | 'patch' | 'get'>
  readonly clock: Clock
  readonly watch: Pick<Watch, 'namespace' | 'pools' | 'deployment' | 'budget' | 'hasSynced'>
  readonly settings: PodSettings
  /** Size with which the pool's Deployment is to be made. */
  readonly firstReplicas: (pool: BrowserPool) => number
  readonly created: (pool: BrowserPool, replicas: number) => void
}

/**
 * Brings about that what belongs to a pool is as the pool says, the size excepted. Answers after how many milliseconds to look
 * again, undefined where a change will tell; throws where something cannot be done, which may be tried again.
 */
export type Shape = (pool: BrowserPool, signal: AbortSignal) => Promise<number | undefined>

/** Shapes pools, and remembers of each what it was like. */
export type Shaper = {
  readonly shape: Shape
  /** Forgets all pools but these, by uid. */
  readonly keep: (uids: ReadonlySet<string>) => void
}

/** Changes with whatever may make shaping end otherwise: the pool, and what belongs to it as far as others have changed it. */
export const wishOf = (watch: Pick<Watch, 'pool' | 'deployment' | 'budget'>, name: string): string => {
  const pool = watch.pool(name)?.metadata
  const children = [watch.deployment(workersName(name)), watch.budget(workersName(name))]
  const found = children.map(
    (child) => child && [child.metadata.uid, child.metadata.deletionTimestamp, child.owner, child.specHash],
  )
  return JSON.stringify([pool?.uid, pool?.generation, found])
}

/** One kind of object that belongs to pools. */
type Kind<T extends SeenChild> = {
  readonly resource: Resource
  readonly trim: (object: KubeObject) => T
  readonly cached: (name: string) => T | undefined
  /** What this process wrote last, by the pool's uid. */
  readonly own: OwnWrites<T>
  /** The object and its spec when it was as it should be, by the pool's uid. */
  readonly specs: Map<string, { readonly uid: string; readonly specHash: string }>
  /** Who makes it. */
  readonly creator: string
}

type Fields = ReturnType<typeof childFields>

/** Makes the shaping of one term: what was written in earlier ones is not remembered. */
export const createShaper = (deps: ShapeDeps): Shaper => {
  const { api, clock, watch } = deps
  const kinds = {
    deployment: {
      resource: deployments,
      trim: trimDeployment,
      cached: watch.deployment,
      own: createOwnWrites<SeenDeployment>(clock),
      specs: new Map<string, { uid: string; specHash: string }>(),
      creator: replicasOwner,
    },
    budget: {
      resource: budgets,
      trim: trimChild,
      cached: watch.budget,
      own: createOwnWrites<SeenChild>(clock),
      specs: new Map<string, { uid: string; specHash: string }>(),
      creator: fieldOwner,
    },
  }
  const shapeOne = createShapeOne(api, watch.namespace)
  const turns = createRolloutTurns(clock)
  const newest = (of: BrowserPool) => {
    const cached = watch.deployment(workersName(of.metadata.name))
    return kinds.deployment.own.newerThan(of.metadata.uid, cached?.metadata.resourceVersion) ?? cached
  }
  const firstWanted = new Map<string, string | undefined>()
  /** What differs when it is first looked at was changed by another release or other settings: that is rolled out pool by pool. */
  const turnOf = (pool: BrowserPool, fields: Fields) => () => {
    const { uid } = pool.metadata
    const wanted = fields.metadata?.annotations?.[appliedAnnotation]
    if (!firstWanted.has(uid)) firstWanted.set(uid, wanted)
    if (kinds.deployment.specs.has(uid) || firstWanted.get(uid) !== wanted) return anyTime
    if (!watch.hasSynced()) return undefined
    const others = watch.pools().filter(({ metadata }) => metadata.uid !== uid)
    return turns.take(others.flatMap((other) => newest(other) ?? []))
  }

  const shape: Shape = async (pool, signal) => {
    const withSize = (fields: Fields) => {
      const replicas = deps.firstReplicas(pool)
      return { ...fields, spec: { ...fields.spec, replicas } }
    }
    const fields = deploymentFields(pool, deps.settings)
    const first = () => withSize(fields)
    const fit = (found: SeenDeployment) => fieldsFor(found, fields)
    const turn = turnOf(pool, fields)
    const deployment = await shapeOne(kinds.deployment, { pool, fields, first, fit, turn }, signal)
    const { seen } = deployment
    if (deployment.isNew && seen) deps.created(pool, seen.replicas)
    const cut = seen?.excessEntry === undefined ? undefined : await cutBack(api, seen, signal)
    if (cut) kinds.deployment.own.remember(pool.metadata.uid, cut.metadata.resourceVersion, cut)

    const own = budgetFields(pool, deps.settings.instance)
    const asOwn = () => own
    const ofBudget = { pool, fields: own, first: asOwn, fit: asOwn, turn: () => anyTime }
    const budget = await shapeOne(kinds.budget, ofBudget, signal)
    if (deployment.waits) return turnMs
    // If it is deleted before the cache shows it, nothing else tells.
    return deployment.wrote || budget.wrote ? trustMs : undefined
  }
  return {
    shape,
    keep: (uids) => {
      for (const known of [firstWanted, ...Object.values(kinds).map(({ specs }) => specs)])
        for (const uid of known.keys()) if (!uids.has(uid)) known.delete(uid)
    },
  }
}

/** An object that belongs to a pool. */
type Child<T> = {
  readonly pool: BrowserPool
  /** As it is to be. */
  readonly fields: Fields
  /** As it is to be made. */
  readonly first: () => Fields
  /** What is to be applied to the one that is there. */
  readonly fit: (found: T) => Fields
  /** Held while it is changed; where there is none it is left as it is. */
  readonly turn: () => Disposable | undefined
}

/** What became of one object; none is seen where it is about to go. It may wait for its turn to be changed. */
type Shaped<T> = {
  readonly seen: T | undefined
  readonly isNew: boolean
  readonly wrote: boolean
  readonly waits?: boolean
}

const anyTime: Disposable = { [Symbol.dispose]: () => {} }
/** Milliseconds between two looks at whether it is a Deployment's turn. */
const turnMs = 5000

const createShapeOne = (api: ShapeDeps['api'], namespace: string) => {
  const create = async <T extends SeenChild>(kind: Kind<T>, ref: Ref, fields: Fields, signal: AbortSignal) => {
    const { apiVersion, kind: name } = kind.resource
    const object = { apiVersion, kind: name, ...fields, metadata: { ...fields.metadata, name: ref.name, namespace } }
    try {
      const made = await api.create<KubeObject>(ref, object, { fieldManager: kind.creator, signal })
      return { seen: kind.trim(made), isNew: true }
    } catch (thrown) {
      // One that has lost its labels is not reflected.
      if (outcomeOf(thrown) !== 'already-exists') throw thrown
      return { seen: kind.trim(await api.get<KubeObject>(ref, signal)), isNew: false }
    }
  }

  return async <T extends SeenChild>(kind: Kind<T>, of: Child<T>, signal: AbortSignal): Promise<Shaped<T>> => {
    const { name, uid } = of.pool.metadata
    const ref = { resource: kind.resource, namespace, name: workersName(name) }
    const cached = kind.cached(ref.name)
    const known = kind.own.newerThan(uid, cached?.metadata.resourceVersion) ?? cached
    const { seen: found, isNew } = known ? { seen: known, isNew: false } : await create(kind, ref, of.first(), signal)
    if (found.metadata.deletionTimestamp !== undefined) return { seen: undefined, isNew, wrote: false }
    mustBelong(found, of.pool)
    const spec = kind.specs.get(uid)
    if (!needsApply(found, of.fields, spec?.uid === found.metadata.uid ? spec.specHash : undefined)) {
      kind.specs.set(uid, { uid: found.metadata.uid, specHash: found.specHash })
      if (isNew) kind.own.remember(uid, found.metadata.resourceVersion, found)
      return { seen: found, isNew, wrote: isNew }
    }
    // One that is not reflected, as without its labels, cannot be sized until it is.
    using turn = cached ? of.turn() : anyTime
    if (!turn) return { seen: found, isNew, wrote: false, waits: true }
    const seen = kind.trim(await apply<KubeObject>(api, ref, of.fit(found), signal))
    kind.specs.set(uid, { uid: seen.metadata.uid, specHash: seen.specHash })
    kind.own.remember(uid, seen.metadata.resourceVersion, seen)
    return { seen, isNew, wrote: true }
  }
}

/**
 * Leaves nothing but the size to who made a Deployment: what it owns beside that could never be taken away. Undefined where the
 * Deployment has changed meanwhile, which is about to be seen.
 */
const cutBack = async (
  api: ShapeDeps['api'],
  seen: SeenDeployment,
  signal: AbortSignal,
): Promise<SeenDeployment | undefined> => {
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

/** What an older pool of the same name has left is taken over. What belongs to another is not; it may be about to go. */
const mustBelong = ({ owner, metadata }: SeenChild, pool: BrowserPool) => {
  const isLeftOver = owner === undefined && labelledPool(metadata.labels) === objectName(pool.metadata.name)
  if (owner === pool.metadata.uid || isLeftOver) return
  throw new AppError('SERVICE_UNAVAILABLE', { message: `${metadata.name} is there and does not belong to this pool` })
}
