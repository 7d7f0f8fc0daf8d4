import { browserPoolKind } from './browser-pool.ts'
import type { Kind } from './kind.ts'
import { at, isSameJson, isPlainObject, type Stored, type JsonObject } from './object.ts'
import { statusError } from './status-error.ts'

const specChanged = (before: Stored, after: Stored) => !isSameJson(before['spec'], after['spec'])

const withSpec = (object: Stored, defaults: JsonObject): Stored => ({
  ...object,
  spec: { ...defaults, ...(isPlainObject(object['spec']) ? object['spec'] : {}) },
})

/** A 422 with the real server's wording. */
export const invalidError = ({ kind, metadata }: Stored, why: string) =>
  statusError(422, 'Invalid', `${kind} "${metadata.name}" is invalid: ${why}`)

const checkReplicas = (object: Stored) => {
  const replicas = at(object, 'spec', 'replicas')
  if (typeof replicas !== 'number' || replicas < 0 || !Number.isInteger(replicas))
    throw invalidError(object, 'spec.replicas: must be greater than or equal to 0')
}

const checkSelector = (object: Stored, before: Stored | undefined) => {
  const selector = at(object, 'spec', 'selector')
  if (before && !isSameJson(at(before, 'spec', 'selector'), selector))
    throw invalidError(object, 'spec.selector: field is immutable')
  const matchLabels = at(selector, 'matchLabels')
  const labels = at(object, 'spec', 'template', 'metadata', 'labels')
  const isMatched =
    isPlainObject(matchLabels) && Object.entries(matchLabels).every(([name, value]) => at(labels, name) === value)
  if (!isMatched) throw invalidError(object, '`selector` does not match template `labels`')
}

const deploymentDefaults: JsonObject = {
  replicas: 1,
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
  revisionHistoryLimit: 10,
  progressDeadlineSeconds: 600,
}

const jobDefaults: JsonObject = {
  parallelism: 1,
  completions: 1,
  backoffLimit: 6,
  completionMode: 'NonIndexed',
  suspend: false,
  podReplacementPolicy: 'TerminatingOrFailed',
}

/** As on the real server, a Job's selector contains its uid, and its pods are labelled with its name. */
const applyJobDefaults = (job: Stored): Stored => {
  const filled = withSpec(job, jobDefaults)
  const { name, uid } = job.metadata
  const own = { 'batch.kubernetes.io/controller-uid': uid, 'batch.kubernetes.io/job-name': name }
  const template = at(filled, 'spec', 'template') as JsonObject
  const labels = { ...(at(template, 'metadata', 'labels') as JsonObject | undefined), ...own, 'job-name': name }
  return {
    ...filled,
    spec: {
      ...(filled['spec'] as JsonObject),
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: { ...template, metadata: { ...(at(template, 'metadata') as JsonObject | undefined), labels } },
    },
  }
}

const checkJob = (job: Stored, before: Stored | undefined) => {
  if (before && !isSameJson(at(before, 'spec', 'template'), at(job, 'spec', 'template')))
    throw invalidError(job, 'spec.template: field is immutable')
  const policy = at(job, 'spec', 'template', 'spec', 'restartPolicy')
  if (policy !== 'Never' && policy !== 'OnFailure')
    throw invalidError(job, 'spec.template.spec.restartPolicy: Required value')
}

const podGraceSeconds = (pod: Stored): number => {
  const phase = at(pod, 'status', 'phase')
  if (at(pod, 'spec', 'nodeName') === undefined || phase === 'Succeeded' || phase === 'Failed') return 0
  return Number(at(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30)
}

const plain = (apiVersion: string, kind: string, plural: string): Kind => ({
  resource: `${apiVersion}/${plural}`,
  apiVersion,
  kind,
  plural,
})

/** All kinds that the model serves. */
export const kinds: readonly Kind[] = [
  plain('v1', 'ConfigMap', 'configmaps'),
  plain('v1', 'ResourceQuota', 'resourcequotas'),
  plain('events.k8s.io/v1', 'Event', 'events'),
  plain('coordination.k8s.io/v1', 'Lease', 'leases'),
  {
    ...plain('v1', 'Pod', 'pods'),
    hasStatus: true,
    isNewGeneration: specChanged,
    applyDefaults: (pod) => ({ ...withSpec(pod, { restartPolicy: 'Always' }), status: { phase: 'Pending' } }),
    graceSeconds: podGraceSeconds,
  },
  {
    ...plain('apps/v1', 'ReplicaSet', 'replicasets'),
    hasStatus: true,
    hasScale: true,
    isNewGeneration: specChanged,
    applyDefaults: (set) => withSpec(set, { replicas: 1 }),
  },
  {
    ...plain('apps/v1', 'Deployment', 'deployments'),
    hasStatus: true,
    hasScale: true,
    // Annotations count too: the deployment controller copies them to its ReplicaSets.
    isNewGeneration: (before, after) =>
      specChanged(before, after) || !isSameJson(before.metadata.annotations ?? {}, after.metadata.annotations ?? {}),
    applyDefaults: (deployment) => withSpec(deployment, deploymentDefaults),
    check: (deployment, before) => {
      checkReplicas(deployment)
      checkSelector(deployment, before)
    },
  },
  {
    ...plain('batch/v1', 'Job', 'jobs'),
    hasStatus: true,
    isNewGeneration: specChanged,
    applyDefaults: applyJobDefaults,
    check: checkJob,
    orphansDependents: true,
  },
  {
    ...plain('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
    hasStatus: true,
    isNewGeneration: specChanged,
  },
  plain('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'),
  browserPoolKind,
]

const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const objectName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/

/** Validates the metadata of any object. */
export const checkMeta = (object: Stored): void => {
  const { name, labels = {} } = object.metadata
  if (!objectName.test(name) || name.length > 253)
    throw invalidError(object, `metadata.name: Invalid value: "${name}": a lowercase RFC 1123 subdomain`)
  for (const value of Object.values(labels))
    if (!labelValue.test(value) || value.length > 63)
      throw invalidError(object, `metadata.labels: Invalid value: "${value}"`)
}
