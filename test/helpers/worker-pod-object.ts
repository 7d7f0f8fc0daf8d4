import type { Pool } from '#shared/capture/lane.ts'
import { prefix } from '#shared/config/read-env.ts'
import { fieldOwner, labelSelector } from '#shared/kube/names.ts'
import type { KubeObject } from '#shared/kube/resource.ts'

/** A variable of a container. */
type Variable = {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } }
}

/** A condition of a pod. */
export type PodCondition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** State of a container. */
export type ContainerState = {
  readonly waiting?: { readonly reason: string; readonly message?: string }
  readonly running?: { readonly startedAt: string }
  readonly terminated?: {
    readonly exitCode: number
    readonly reason: string
    readonly startedAt: string
    readonly finishedAt: string
  }
}

/** The status fields of a pod that the fake kubelet writes. */
export type PodStatus = {
  readonly phase?: string
  readonly reason?: string | null
  readonly message?: string | null
  readonly startTime?: string
  readonly conditions?: readonly PodCondition[]
  readonly containerStatuses?: readonly {
    readonly name: string
    readonly image: string
    readonly ready: boolean
    readonly started: boolean
    readonly restartCount: number
    readonly state: ContainerState
    readonly lastState: ContainerState
  }[]
}

/** The fields of a worker's pod that tests read. */
export type PodObject = KubeObject & {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
    readonly deletionGracePeriodSeconds?: number
  }
  readonly spec: {
    readonly nodeName?: string
    readonly restartPolicy: 'Always' | 'OnFailure' | 'Never'
    readonly terminationGracePeriodSeconds: number
    readonly containers: readonly {
      readonly name: string
      readonly image: string
      readonly args?: readonly string[]
      readonly env?: readonly Variable[]
      readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
    }[]
    readonly volumes?: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[]
  }
  readonly status?: PodStatus
}

/** The API resource of pods. */
export const pods = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' } as const

/** Label selector of all workers' pods. */
export const workerSelector = labelSelector({
  'app.kubernetes.io/component': 'worker',
  'app.kubernetes.io/managed-by': fieldOwner,
})

/** The environment of the pod's worker, with pod field references resolved. */
export const environmentOf = (pod: {
  readonly metadata: Pick<PodObject['metadata'], 'name'>
  readonly spec: Pick<PodObject['spec'], 'containers'>
}): Readonly<Record<string, string>> => {
  const env = pod.spec.containers.find(({ name }) => name === 'worker')?.env ?? []
  const valueOf = ({ name, value, valueFrom }: Variable) => {
    if (!valueFrom) return value ?? ''
    if (valueFrom.fieldRef?.fieldPath === 'metadata.name') return pod.metadata.name
    throw new Error(`${name} of pod ${pod.metadata.name} comes from an unsupported source`)
  }
  return Object.fromEntries(env.map((variable) => [variable.name, valueOf(variable)]))
}

/** Properties of a worker, read from its pod. */
export type WorkerSpec = {
  /** Name of the pod. */
  readonly pod: string
  /** Name in the worker's heartbeats: the pod's, or its Job's. */
  readonly worker: string
  readonly pool: Pool
  readonly slots: number
  readonly reservedSlots: number
  /** Whether it exits after one capture. */
  readonly isSingleUse: boolean
  /** Milliseconds after which a single-use worker without a capture exits. */
  readonly spareMs: number
}

/** Reads the properties of a worker from its pod. */
export const workerSpecOf = (pod: PodObject): WorkerSpec => {
  const env = environmentOf(pod)
  const settingOf = (name: string, fallback: string) => env[prefix + name] ?? fallback
  const args = pod.spec.containers.find(({ name }) => name === 'worker')?.args ?? []
  return {
    pod: pod.metadata.name,
    worker: settingOf('WORKER_POD', pod.metadata.name),
    pool: settingOf('WORKER_POOL', 'standard') as Pool,
    slots: Number(settingOf('WORKER_SLOTS', '1')),
    reservedSlots: Number(settingOf('WORKER_RESERVED_SLOTS', '0')),
    isSingleUse: args.some((part) => part.endsWith('/main-job.js')),
    spareMs: Number(settingOf('WORKER_SPARE_SECONDS', '600')) * 1000,
  }
}
