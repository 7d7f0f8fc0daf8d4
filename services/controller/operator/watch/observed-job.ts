import { appliedAnnotation, captureLabel } from '#shared/kube/names.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'
import { pick } from './pick.ts'
import { conditionOf, type SeenCondition, trimCondition } from './observed-pod.ts'

/** The kind Job. */
export const jobs: Resource = { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' }

/** Label by which a Job's pods name it; Kubernetes sets it. */
export const jobNameLabel = 'batch.kubernetes.io/job-name'

/** The part of a Job that is read. */
export type SeenJobObject = KubeObject & {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly resourceVersion: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly status?: { readonly conditions?: readonly SeenCondition[] }
}

/** Makes of a Job what is kept of it. There may be thousands. */
export const trimJob = (job: KubeObject): SeenJobObject => {
  const { metadata, status } = job as SeenJobObject
  return {
    metadata: {
      ...pick(metadata, ['name', 'namespace', 'uid', 'resourceVersion', 'labels']),
      annotations: pick(metadata.annotations ?? {}, [appliedAnnotation]),
    },
    status: { conditions: (status?.conditions ?? []).map(trimCondition) },
  }
}

/** How a Job ended; undefined of one that has not. What is certain to become its end is its end, though pods still go. */
export const endOf = (job: SeenJobObject): 'succeeded' | 'failed' | undefined => {
  const is = (type: string) => conditionOf(job, type)?.status === 'True'
  if (is('Complete') || is('SuccessCriteriaMet')) return 'succeeded'
  return is('Failed') || is('FailureTarget') ? 'failed' : undefined
}

/** Whether it ended because its pod was taken away, which says nothing of whether others come up. */
export const wasDisrupted = (job: SeenJobObject): boolean =>
  ['Failed', 'FailureTarget'].some((type) => conditionOf(job, type)?.message?.includes('DisruptionTarget') ?? false)

/** The claim that a Job shows. */
export const claimOf = ({ metadata }: SeenJobObject): string | undefined => metadata.labels?.[captureLabel]

/** What a Job was made of. */
export const revisionOf = ({ metadata }: SeenJobObject): string => metadata.annotations?.[appliedAnnotation] ?? ''
