import { appliedAnnotation, captureLabel } from '#shared/kube/names.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import {
  conditionOf,
  metadataFields,
  type ObservedCondition,
  type ObservedMetadata,
  pick,
  trimCondition,
} from './observed-object.ts'

/** The kind Job. */
export const jobs: Resource = { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' }

/** Label that Kubernetes sets on a Job's pods: the name of the Job. */
export const jobNameLabel = 'batch.kubernetes.io/job-name'

/** The fields of a Job that are read. */
export type ObservedJob = KubeObject & {
  readonly metadata: ObservedMetadata & { readonly annotations?: Readonly<Record<string, string>> }
  readonly status?: { readonly conditions?: readonly ObservedCondition[] }
}

/** Trims a Job to the fields that are read: there may be thousands of Jobs. */
export const trimJob = (job: KubeObject): ObservedJob => {
  const { metadata, status } = job as ObservedJob
  return {
    metadata: {
      ...pick(metadata, metadataFields),
      annotations: pick(metadata.annotations ?? {}, [appliedAnnotation]),
    },
    status: { conditions: (status?.conditions ?? []).map(trimCondition) },
  }
}

/** How a Job ended; undefined if it has not. A certain end counts even while pods still terminate. */
export const endOf = (job: ObservedJob): 'succeeded' | 'failed' | undefined => {
  const is = (type: string) => conditionOf(job, type)?.status === 'True'
  if (is('Complete') || is('SuccessCriteriaMet')) return 'succeeded'
  return is('Failed') || is('FailureTarget') ? 'failed' : undefined
}

/** Whether a Job ended because its pod was disrupted, which does not mean that other Jobs cannot start. */
export const wasDisrupted = (job: ObservedJob): boolean =>
  ['Failed', 'FailureTarget'].some((type) => conditionOf(job, type)?.message?.includes('DisruptionTarget') ?? false)

/** Id of the capture that the Job has claimed, from its label. */
export const claimOf = ({ metadata }: ObservedJob): string | undefined => metadata.labels?.[captureLabel]

/** Hash of the options that a Job was created from. */
export const revisionOf = ({ metadata }: ObservedJob): string => metadata.annotations?.[appliedAnnotation] ?? ''
