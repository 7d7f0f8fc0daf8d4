import { createHash } from 'node:crypto'
import type { V1Job, V1JobSpec } from '@kubernetes/client-node'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import type { BrowserPool, BrowserPoolSpec } from '#shared/kube/browser-pool.ts'
import { appliedAnnotation, poolLabels } from '#shared/kube/names.ts'
import { ownerOf } from './deployment.ts'
import { jobs } from '#controller/operator/watch/observed-job.ts'
import { workerContainer } from '#controller/operator/watch/observed-pod.ts'
import { type PodSettings, workerPod } from './worker-pod.ts'

/** Input of a Job's manifest. */
export type JobOptions = {
  readonly pool: BrowserPool['metadata']
  readonly spec: Pick<BrowserPoolSpec, 'jobs' | 'template'>
  readonly namespace: string
  readonly settings: PodSettings
}

/** A Job as it is created. */
export type JobManifest = V1Job & { readonly metadata: { readonly name: string; readonly namespace: string } }

const budgetSeconds = attemptBudgetMs({ timeout: 60, delay: 10 }) / 1000
/** Time to report and exit after the budget of the attempt. */
const exitSeconds = 10
/** Time to start on a node, before the worker's own timers begin. */
const startSeconds = 60
const revisionChars = 12

const specOf = (name: string, { pool, spec, settings }: JobOptions): V1JobSpec => {
  const { spareSeconds, ttlSecondsAfterFinished } = spec.jobs
  return {
    // A Job never retries its capture: the queue redelivers it to another Job.
    backoffLimit: 0,
    podFailurePolicy: {
      rules: [
        { action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        { action: 'FailJob', onExitCodes: { containerName: workerContainer, operator: 'NotIn', values: [0] } },
      ],
    },
    podReplacementPolicy: 'Failed',
    activeDeadlineSeconds: settings.nodeProvisionSeconds + startSeconds + spareSeconds + budgetSeconds,
    ttlSecondsAfterFinished,
    template: workerPod({
      pool: 'proxied',
      browserPool: pool.name,
      template: spec.template,
      slots: 1,
      program: 'main-job',
      // The worker's heartbeats carry the name of its Job, which is known before the pod's.
      podName: name,
      variables: { [workerSettings.spareSeconds.name]: String(spareSeconds) },
      graceSeconds: budgetSeconds + exitSeconds,
      settings,
    }),
  }
}

/** Hash of what all Jobs with these options have in common, 12 characters. */
export const jobRevision = (options: JobOptions): string => {
  const text = JSON.stringify(specOf('', options))
  return createHash('sha256').update(text).digest('hex').slice(0, revisionChars)
}

/**
 * The Job of one single-use worker. In the namespace of its BrowserPool it is deleted with the BrowserPool; the terminated
 * worker finishes its capture. In another namespace that is impossible, and the Job ends by itself.
 */
export const jobManifest = (name: string, options: JobOptions): JobManifest => ({
  apiVersion: jobs.apiVersion,
  kind: jobs.kind,
  metadata: {
    name,
    namespace: options.namespace,
    labels: { ...options.settings.podLabels, ...poolLabels(options.settings.instance, options.pool.name) },
    annotations: { ...options.settings.podAnnotations, [appliedAnnotation]: jobRevision(options) },
    ...(options.namespace === options.pool.namespace && { ownerReferences: [ownerOf({ metadata: options.pool })] }),
  },
  spec: specOf(name, options),
})
