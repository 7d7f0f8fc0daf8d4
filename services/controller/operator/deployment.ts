import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { browserPools } from '#shared/kube/browser-pool.ts'
import type { Fields } from '#shared/kube/apply.ts'
import { appliedAnnotation, poolLabels, poolSelector } from '#shared/kube/names.ts'
import { hashOf } from './seen-deployment.ts'
import { type PodSettings, workerPod } from './worker-pod.ts'

/** Old templates: none is of use, since the pool's own is applied again after whatever brings one back. */
const revisionHistoryLimit = 0

/** Beyond the time for a node: a volume to be mounted and an image to be fetched. */
const startSeconds = 300

/** What belongs to a pool, and goes with it. */
export const childFields = (pool: BrowserPool, instance: string, spec: object): Fields & { readonly spec: object } => {
  const { apiVersion, kind } = browserPools
  const { name, uid } = pool.metadata
  const metadata = {
    labels: poolLabels(instance, name),
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  }
  const annotations = { [appliedAnnotation]: hashOf({ metadata, spec }) }
  return { metadata: { ...metadata, annotations }, spec }
}

/** What of a pool's Deployment the controller decides, but for its size. */
export const deploymentFields = (pool: BrowserPool, settings: PodSettings): ReturnType<typeof childFields> => {
  const { name } = pool.metadata
  const { template, autoscaling, drain } = pool.spec
  return childFields(pool, settings.instance, {
    revisionHistoryLimit,
    progressDeadlineSeconds: settings.nodeProvisionSeconds + startSeconds,
    selector: { matchLabels: poolSelector(settings.instance, name) },
    // Old workers stay until new ones are ready: an image that does not start takes no capacity.
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
    template: workerPod({
      pool: pool.spec.pool,
      browserPool: name,
      template,
      slots: autoscaling.slots,
      program: 'main',
      graceSeconds: drain.deadlineSeconds,
      settings,
    }),
  })
}
