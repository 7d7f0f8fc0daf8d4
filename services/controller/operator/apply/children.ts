import { assertSelector, budgetFields, deploymentFields } from '#controller/operator/manifests/deployment.ts'
import type { PodSettings } from '#controller/operator/manifests/worker-pod.ts'
import type { Informers } from '#controller/operator/watch/informers.ts'
import { createMutationCache, type MutationCache, requestMs } from '#controller/operator/watch/mutation-cache.ts'
import {
  budgets,
  deployments,
  type ObservedChild,
  type ObservedDeployment,
  trimChild,
  trimDeployment,
} from '#controller/operator/watch/observed-deployment.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { apply, type ApplyOptions } from '#controller/kube/apply.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { KubeApi } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { appliedAnnotation, labelledPool, objectName, replicasOwner, workersName } from '#shared/kube/names.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { createRetries } from './retries.ts'
import type { RolloutTurns } from './rollout-turns.ts'

/** Dependencies of the children. */
export type ChildrenDeps = {
  readonly api: Pick<KubeApi, 'patch' | 'get'>
  readonly clock: Clock
  readonly informers: Pick<Informers, 'namespace' | 'deployment' | 'budget'>
  readonly turns: RolloutTurns
  readonly settings: PodSettings
  /** Size with which the pool's Deployment is created. */
  readonly firstReplicas: (pool: BrowserPool) => number
  readonly created: (replicas: number) => void
  readonly failed: (error: AppError, retryMs: number) => void
}

/** Applies the children of a pool, its Deployment and its PodDisruptionBudget, without the size. */
export type Children = ReturnType<typeof createChildren>

/** Milliseconds after which a child without drift is applied again: metadata changes do not change its generation. */
const reapplyMs = 600_000

type Fields = ReturnType<typeof deploymentFields>

/** Creates the reconciler of one pool's children for one term. */
export const createChildren = (deps: ChildrenDeps) => {
  const { clock, informers, turns, settings } = deps
  const deployment = createChild(deps, {
    resource: deployments,
    trim: trimDeployment,
    cached: informers.deployment,
    written: turns.written,
  })
  const budget = createChild(deps, {
    resource: budgets,
    trim: trimChild,
    cached: informers.budget,
    written: createMutationCache<ObservedChild>(clock),
  })
  let last: { readonly pool: BrowserPool; readonly deployment: Fields; readonly budget: Fields } | undefined
  let firstHash: string | undefined
  let waitsForTurn = false
  const retries = createRetries(clock, deps.failed)

  const fieldsOf = (pool: BrowserPool) => {
    if (last?.pool !== pool) {
      last = { pool, deployment: deploymentFields(pool, settings), budget: budgetFields(pool, settings.instance) }
    }
    return last
  }
  /** A difference at the start is due to another release or other settings, and is rolled out pool by pool. */
  const turnOf = (pool: BrowserPool, found: ObservedDeployment, fields: Fields) => {
    const hash = hashIn(fields)
    firstHash ??= hash
    const isByUser = deployment.wasApplied() || firstHash !== hash
    // A Deployment that the informer does not show cannot be scaled until it is applied.
    if (isByUser || found.applied === hash || !deployment.isObserved()) return noTurnNeeded
    return turns.take(pool.metadata.uid)
  }
  const applyAll = async (pool: BrowserPool, signal: AbortSignal) => {
    const fields = fieldsOf(pool)
    waitsForTurn = false
    const found = await deployment.find(pool, signal)
    if (!found) {
      const replicas = deps.firstReplicas(pool)
      const spec = { ...fields.deployment.spec, replicas }
      const created = await deployment.create(pool, { ...fields.deployment, spec }, signal)
      deps.created(replicas)
      await handOver(deps.api, created, signal)
      await deployment.apply(pool, fields.deployment, signal)
    } else if (deployment.hasDrift(found, pool, fields.deployment)) {
      assertSelector(found, fields.deployment)
      using turn = turnOf(pool, found, fields.deployment)
      waitsForTurn = !turn
      if (found.ownsReplicas) await handOver(deps.api, found, signal)
      if (turn) await deployment.apply(pool, fields.deployment, signal)
    }
    const foundBudget = await budget.find(pool, signal)
    if (!foundBudget) await budget.create(pool, fields.budget, signal)
    else if (budget.hasDrift(foundBudget, pool, fields.budget)) await budget.apply(pool, fields.budget, signal)
  }
  return {
    /** Applies what has drifted, within 4 s. Later calls retry a failure, with back-off while the desired state is the same. */
    reconcile: async (pool: BrowserPool): Promise<void> => {
      // A changed template would replace the workers of a paused pool.
      if (pool.spec.paused) return retries.reset()
      await retries.run(desiredState(informers, pool), () => applyAll(pool, AbortSignal.timeout(requestMs)))
    },
    /** Whether changes are pending: the last attempt failed, or other pools are rolled out first. */
    isPending: () => retries.hasFailed() || waitsForTurn,
    problem: retries.problem,
    /** Hash of the fields that are applied to the Deployment. */
    appliedHash: (pool: BrowserPool) => hashIn(fieldsOf(pool).deployment),
  }
}

const noTurnNeeded: Disposable = { [Symbol.dispose]: () => {} }

const hashIn = ({ metadata }: Fields): string | undefined => metadata?.annotations?.[appliedAnnotation]

/** Key that changes with anything that may change the outcome of a retry: the pool's spec, and its children. */
const desiredState = (informers: ChildrenDeps['informers'], { metadata }: BrowserPool): string => {
  const name = workersName(metadata.name)
  const children = [informers.deployment(name), informers.budget(name)]
  const found = children.map((child) => child && [child.metadata.uid, child.metadata.generation, child.owner])
  return JSON.stringify([metadata.generation, found])
}

/**
 * Makes a second field manager own the size too, so that applying the other fields without it does not remove it: the way to
 * transfer ownership with server-side apply. Throws `conflict` if the size has changed meanwhile.
 */
const handOver = async (
  api: ChildrenDeps['api'],
  { metadata: { name, namespace }, replicas }: ObservedDeployment,
  signal: AbortSignal,
): Promise<void> => {
  const ref = { resource: deployments, namespace, name }
  await apply(api, ref, { spec: { replicas } }, { fieldManager: replicasOwner, force: false, signal })
}

/** One kind of child. */
type ChildKind<T extends ObservedChild> = {
  readonly resource: Resource
  readonly trim: (object: KubeObject) => T
  readonly cached: (name: string) => T | undefined
  /** Last writes of this process, by the pool's uid. */
  readonly written: MutationCache<T>
}

const createChild = <T extends ObservedChild>(
  { api, clock, informers }: ChildrenDeps,
  { resource, trim, cached, written }: ChildKind<T>,
) => {
  /** The child when it was last applied. */
  let last: { readonly uid: string; readonly generation: number | undefined; readonly atMs: number } | undefined
  let isObserved = false
  const refOf = ({ metadata }: BrowserPool) => ({
    resource,
    namespace: informers.namespace,
    name: workersName(metadata.name),
  })
  const send = async (pool: BrowserPool, fields: Fields, options: ApplyOptions): Promise<T> => {
    const child = trim(await apply<KubeObject>(api, refOf(pool), fields, options))
    const { uid, resourceVersion, generation } = child.metadata
    written.remember(pool.metadata.uid, resourceVersion, child)
    last = { uid, generation, atMs: clock.nowMs() }
    return child
  }
  return {
    wasApplied: () => last !== undefined,
    /** Whether the informer shows the child, or will show the last write. */
    isObserved: () => isObserved,
    /** The child; read from the API server if the informer does not show it: it may have lost its labels. */
    find: async (pool: BrowserPool, signal: AbortSignal): Promise<T | undefined> => {
      const ref = refOf(pool)
      const shown = cached(ref.name)
      const newest = written.newerThan(pool.metadata.uid, shown?.metadata.resourceVersion) ?? shown
      isObserved = newest !== undefined
      if (newest) return newest
      try {
        return trim(await api.get<KubeObject>(ref, signal))
      } catch (thrown) {
        if (outcomeOf(thrown) === 'not-found') return undefined
        throw thrown
      }
    },
    /** Throws `conflict` if another field manager has created the child. */
    create: (pool: BrowserPool, fields: Fields, signal: AbortSignal) => send(pool, fields, { force: false, signal }),
    apply: (pool: BrowserPool, fields: Fields, signal: AbortSignal) => send(pool, fields, { signal }),
    /** Whether to apply the child. Size changes by this process count as drift too: applying then changes nothing. */
    hasDrift: (found: T, pool: BrowserPool, fields: Fields): boolean => {
      const { uid, generation, deletionTimestamp } = found.metadata
      if (deletionTimestamp !== undefined) return false
      assertOwned(found, pool)
      if (!isObserved || found.ownsReplicas || found.applied !== hashIn(fields)) return true
      return last?.uid !== uid || last.generation !== generation || clock.nowMs() - last.atMs >= reapplyMs
    },
  }
}

/** Throws `SERVICE_UNAVAILABLE` unless the pool owns the child, or an older pool of its name left it. */
const assertOwned = ({ owner, metadata }: ObservedChild, pool: BrowserPool) => {
  const isLeftOver = owner === undefined && labelledPool(metadata.labels) === objectName(pool.metadata.name)
  if (owner === pool.metadata.uid || isLeftOver) return
  throw new AppError('SERVICE_UNAVAILABLE', { message: `${metadata.name} exists and does not belong to this pool` })
}
