import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createKubeApi, type KubeApi } from '#shared/kube/client.ts'
import { openConnection } from '#shared/kube/connection.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import type { Check } from './check.ts'

/** Where the cluster is. */
export type ClusterFacts = {
  /** Folder of the project. */
  readonly root: string
  /** '' for what Kubernetes gives to every pod. */
  readonly kubeconfig: string
  /** Of the BrowserPools; '' for the one that the configuration names. */
  readonly namespace: string
}

type Right = { readonly group: string; readonly resource: string; readonly subresource?: string; readonly verb: string }
type Review = KubeObject & {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: object
  readonly status?: { readonly allowed?: boolean }
}

const reviews = {
  resource: {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
  },
}

const listed = (text: string | undefined) =>
  (text ?? '')
    .split(',')
    .map((each) => each.trim().replaceAll("'", ''))
    .filter((each, index) => each !== '' || index === 0)

const ruleForm = /apiGroups: \[(.*)\]\n\s+resources: \[(.*)\]\n\s+verbs: \[(.*)\]/g

/** The rights that the Role of our file gives, one by one. Throws where it finds none. */
export const rightsIn = (role: string): Right[] => {
  const rights = [...role.matchAll(ruleForm)].flatMap(([, groups, resources, verbs]) =>
    listed(groups).flatMap((group) =>
      listed(resources).flatMap((path) => {
        const [resource = '', subresource] = path.split('/')
        return listed(verbs).map((verb) => ({ group, resource, ...(subresource && { subresource }), verb }))
      }),
    ),
  )
  if (rights.length === 0) throw new Error('k8s/controller-role.yaml names no rights')
  return rights
}

const isAllowed = async (api: Pick<KubeApi, 'create'>, namespace: string, right: Right) => {
  const spec = { resourceAttributes: { ...right, namespace } }
  const { apiVersion, kind } = reviews.resource
  const { status } = await api.create<Review>(reviews, { apiVersion, kind, metadata: {}, spec })
  return status?.allowed === true
}

const nameOf = ({ verb, resource, subresource }: Right) => `${verb} ${resource}${subresource ? `/${subresource}` : ''}`

const lookAtCluster = async ({ root, kubeconfig, namespace }: ClusterFacts) => {
  const rights = rightsIn(await readFile(join(root, 'k8s/controller-role.yaml'), 'utf8'))
  await using connection = openConnection({ userAgent: 'shutterfleet-doctor', ...(kubeconfig && { kubeconfig }) })
  const api = createKubeApi(connection)
  const where = namespace || connection.namespace
  const missing: Right[] = []
  for (const right of rights) if (!(await isAllowed(api, where, right))) missing.push(right)
  if (missing.length > 0) throw new Error(`in namespace ${where} it may not: ${missing.map(nameOf).join(', ')}`)
  return `all ${rights.length} rights in namespace ${where}`
}

/** Whether the controller may do in its namespace what its Role says; it asks the API server for each right. */
export const clusterCheck = (facts: ClusterFacts): Check => ({
  name: 'cluster rights',
  advice: 'apply k8s/controller-role.yaml and bind it to the controller; SHUTTERFLEET_KUBECONFIG names the cluster',
  look: () => lookAtCluster(facts),
})
