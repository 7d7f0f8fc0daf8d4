import { isDeepStrictEqual } from 'node:util'
import type { V1OwnerReference } from '@kubernetes/client-node'
import { workerSettings } from '#shared/config/settings/worker.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import type { Fields } from '#controller/kube/apply.ts'
import { appliedAnnotation, poolLabels, poolSelector } from '#shared/kube/names.ts'
import { hashOf } from '#controller/operator/watch/observed-object.ts'
import type { ObservedDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { type PodSettings, workerPod } from './worker-pod.ts'

/** Old ReplicaSets to keep: none, because the pool's template would be applied again after a rollback. */
const revisionHistoryLimit = 0

/** Seconds on top of those for a node: to mount volumes and pull the image. */
const startSeconds = 300

/** Owner reference to the pool: Kubernetes deletes the object with the pool. Works only in the pool's namespace. */
export const ownerOf = ({ metadata: { name, uid } }: Pick<BrowserPool, 'metadata'>): V1OwnerReference => ({
  apiVersion: browserPools.apiVersion,
  kind: browserPools.kind,
  name,
  uid,
  controller: true,
})

type OwnNames = Partial<Pick<PodSettings, 'podLabels' | 'podAnnotations'>>

/** The fields of a child of a pool, with a hash of them as annotation. The child is deleted with the pool. */
const childFields = (
  pool: BrowserPool,
  { instance, podLabels, podAnnotations }: Pick<PodSettings, 'instance'> & OwnNames,
  spec: object,
): Fields & { readonly spec: object } => {
  const labels = { ...podLabels, ...poolLabels(instance, pool.metadata.name) }
  const metadata = { labels, ...(podAnnotations && { annotations: podAnnotations }), ownerReferences: [ownerOf(pool)] }
  const annotations = { ...podAnnotations, [appliedAnnotation]: hashOf({ metadata, spec }) }
  return { metadata: { ...metadata, annotations }, spec }
}

/** The fields of a pool's Deployment that the controller manages, without its size. */
export const deploymentFields = (pool: BrowserPool, settings: PodSettings): ReturnType<typeof childFields> => {
  const { name } = pool.metadata
  const { template, autoscaling, rollingUpdate, terminationGracePeriodSeconds } = pool.spec
  return childFields(pool, settings, {
    revisionHistoryLimit,
    progressDeadlineSeconds: settings.nodeProvisionSeconds + startSeconds,
    selector: { matchLabels: poolSelector(settings.instance, name) },
    strategy: { type: 'RollingUpdate', rollingUpdate },
    template: workerPod({
      pool: pool.spec.pool,
      browserPool: name,
      template,
      slots: autoscaling.slots,
      // Absent if none is reserved, so that an update of the operator alone replaces no worker.
      ...(autoscaling.reservedSlots > 0 && {
        variables: { [workerSettings.reservedSlots.name]: String(autoscaling.reservedSlots) },
      }),
      program: 'main',
      graceSeconds: terminationGracePeriodSeconds,
      settings,
    }),
  })
}

/** Throws `SERVICE_UNAVAILABLE` if an existing Deployment has another selector, which is immutable. */
export const assertSelector = (
  { metadata, selector }: Pick<ObservedDeployment, 'metadata' | 'selector'>,
  { spec }: ReturnType<typeof deploymentFields>,
): void => {
  if (isDeepStrictEqual(selector, (spec as { readonly selector: unknown }).selector)) return
  const { name } = metadata
  const message =
    `Deployment ${name} selects pods by ${JSON.stringify(selector)}, which cannot be changed, and which is not that of this ` +
    `installation. Set SHUTTERFLEET_INSTANCE back; or run kubectl delete deployment ${name} --cascade=orphan, ` +
    'wait for the new workers, and delete the old ReplicaSet.'
  throw new AppError('SERVICE_UNAVAILABLE', { message })
}

/** Workers that node drains may evict at the same time; at least one, since Kubernetes rounds up. */
const maxUnavailable = '20%'

/** A pool's PodDisruptionBudget, all of whose fields the controller manages. */
export const budgetFields = (pool: BrowserPool, instance: string): ReturnType<typeof childFields> =>
  childFields(
    pool,
    { instance },
    {
      maxUnavailable,
      selector: { matchLabels: poolSelector(instance, pool.metadata.name) },
      // An unhealthy worker must not block the drain of its node.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  )
