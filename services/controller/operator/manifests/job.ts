import { createHash } from 'node:crypto'
import type { V1Job, V1JobSpec } from '@kubernetes/client-node'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import type { BrowserPool, BrowserPoolSpec } from '#shared/kube/browser-pool.ts'
import { appliedAnnotation, poolLabels } from '#shared/kube/names.ts'
import { ownerOf } from './deployment.ts'
import { jobs } from '#controller/operator/watch/observed-job.ts'
import { type PodSettings, workerContainer, workerPod } from './worker-pod.ts'

/** What a Job's manifest is made of. */
export type JobOptions = {
  readonly pool: BrowserPool['metadata']
  readonly spec: Pick<BrowserPoolSpec, 'jobs' | 'template'>
  readonly namespace: string
  readonly settings: PodSettings
}

/** A Job as it is created. */
export type JobManifest = V1Job & { readonly metadata: { readonly name: string; readonly namespace: string } }

const budgetSeconds = attemptBudgetMs({ timeout: 60, delay: 10 }) / 1000
/** What a worker needs after its last attempt's budget to report and leave. */
const leaveSeconds = 10
/** Time to start on a node, before the worker counts its own time. */
const startSeconds = 60
const revisionChars = 12

const specOf = (name: string, { pool, spec, settings }: JobOptions): V1JobSpec => {
  const { spareSeconds, ttlSecondsAfterFinished } = spec.jobs
  return {
    // One capture is never tried twice by the same Job: the queue gives it to the next one.
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
      // The worker's heartbeats carry the name of its Job, which is known before its pod.
      podName: name,
      variables: { [workerSettings.spareSeconds.name]: String(spareSeconds) },
      graceSeconds: budgetSeconds + leaveSeconds,
      settings,
    }),
  }
}

/** What all Jobs of these options have in common, as a hash. */
export const jobRevision = (options: JobOptions): string => {
  const text = JSON.stringify(specOf('', options))
  return createHash('sha256').update(text).digest('hex').slice(0, revisionChars)
}

/**
 * The Job of one single-use worker. In the namespace of its BrowserPool it is deleted with that: a worker that is terminated
 * finishes its capture. In another it cannot be, and ends by itself.
 */
export const jobManifest = (name: string, options: JobOptions): JobManifest => ({
  apiVersion: jobs.apiVersion,
  kind: jobs.kind,
  metadata: {
    name,
    namespace: options.namespace,
    labels: { ...poolLabels(options.settings.instance, options.pool.name) },
    annotations: { [appliedAnnotation]: jobRevision(options) },
    ...(options.namespace === options.pool.namespace && { ownerReferences: [ownerOf({ metadata: options.pool })] }),
  },
  spec: specOf(name, options),
})
