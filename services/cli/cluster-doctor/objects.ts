import type { KubeObject, Resource } from '#shared/kube/resource.ts'

/** The Kubernetes resources that the commands use. */
export const kinds = {
  deployments: { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' },
  statefulSets: { apiVersion: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets' },
  jobs: { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' },
  pods: { apiVersion: 'v1', kind: 'Pod', plural: 'pods' },
  secrets: { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' },
  configMaps: { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
  nodes: { apiVersion: 'v1', kind: 'Node', plural: 'nodes' },
  quotas: { apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas' },
  definitions: {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
  },
  networkPolicies: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', plural: 'networkpolicies' },
} as const satisfies Readonly<Record<string, Resource>>

/** A status condition of an object. */
export type Condition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

/** An object with a name and labels. */
export type Named = KubeObject & {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
  }
}

/** A Secret, its values in base64. */
export type Secret = KubeObject & { readonly data?: Readonly<Record<string, string>> }

/** A ConfigMap, its values as text. */
export type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> }

/** The keys of a Secret or ConfigMap that a volume mounts, and the files in which; all without `items`. */
type Source = { readonly items?: readonly { readonly key: string; readonly path?: string }[] }
type NamedSource = Source & { readonly name: string }

/** Fields of a pod spec that the checks read. */
export type PodSpec = {
  readonly serviceAccountName?: string
  readonly imagePullSecrets?: readonly { readonly name: string }[]
  readonly containers: readonly {
    readonly name: string
    readonly env?: readonly { readonly name: string; readonly value?: string }[]
  }[]
  readonly volumes?: readonly {
    readonly secret?: Source & { readonly secretName: string }
    readonly configMap?: NamedSource
    readonly projected?: {
      readonly sources: readonly { readonly secret?: NamedSource; readonly configMap?: NamedSource }[]
    }
  }[]
}

/** A Deployment, a StatefulSet or a Job. */
export type Workload = Named & {
  readonly spec: { readonly replicas?: number; readonly template: { readonly spec: PodSpec } }
  readonly status?: {
    readonly observedGeneration?: number
    readonly readyReplicas?: number
    readonly updatedReplicas?: number
    readonly succeeded?: number
    readonly conditions?: readonly Condition[]
  }
}

type ContainerState = { readonly waiting?: { readonly reason?: string; readonly message?: string } }

/** Fields of a pod that show why it is not ready. */
export type Pod = Named & {
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly Condition[]
    readonly initContainerStatuses?: readonly { readonly state?: ContainerState }[]
    readonly containerStatuses?: readonly { readonly state?: ContainerState }[]
  }
}

/** The chart component of an object; '' without the label. */
export const readComponent = ({ metadata }: Named): string => metadata.labels?.['app.kubernetes.io/component'] ?? ''

/** Finds a condition by type. */
export const conditionOf = (
  { status }: { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
): Condition | undefined => status?.conditions?.find((condition) => condition.type === type)
