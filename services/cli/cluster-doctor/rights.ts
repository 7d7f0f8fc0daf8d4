import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '#shared/kube/resource.ts'
import { type Cluster, failing, type PartResult } from './cluster.ts'
import type { Installation } from './installation.ts'

type Right = { readonly group: string; readonly resource: string; readonly subresource?: string; readonly verb: string }
type Review = KubeObject & {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: object
  readonly status?: { readonly allowed?: boolean }
}

/** The local review, because administrators of a single namespace may create it. */
const reviews = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
}

const listed = (text: string | undefined) =>
  (text ?? '')
    .split(',')
    .map((each) => each.trim().replaceAll("'", ''))
    .filter((each, index) => each !== '' || index === 0)

const ruleForm = /apiGroups: \[(.*)\]\n\s+resources: \[(.*)\]\n\s+verbs: \[(.*)\]/g

/** The rights in the text of k8s/controller-role.yaml, one for each resource and verb. Throws if there are none. */
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

/** User and groups of the requests of the controller's service account. */
const controllerUser = ({ namespace, controllerAccount }: Installation) => ({
  user: `system:serviceaccount:${namespace}:${controllerAccount}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
})

const isAllowed = async ({ create }: Pick<Cluster, 'create'>, installation: Installation, right: Right) => {
  const { workersNamespace: namespace } = installation
  const { apiVersion, kind } = reviews
  const spec = { ...controllerUser(installation), resourceAttributes: { ...right, namespace } }
  const review = { apiVersion, kind, metadata: { namespace }, spec }
  const { status } = await create<Review>({ resource: reviews, namespace }, review)
  return status?.allowed === true
}

const formatRight = ({ verb, resource, subresource }: Right) =>
  `${verb} ${resource}${subresource ? `/${subresource}` : ''}`

/** Reviews each right of the controller's Role in the namespace of its pools. `root`: folder of the project. */
export const checkRights = async (
  cluster: Pick<Cluster, 'create'>,
  installation: Installation,
  root: string,
): Promise<PartResult> => {
  const rights = rightsIn(await readFile(join(root, 'k8s/controller-role.yaml'), 'utf8'))
  const missing: Right[] = []
  for (const right of rights) if (!(await isAllowed(cluster, installation, right))) missing.push(right)
  if (missing.length === 0)
    return { summary: `the controller has all ${rights.length} in namespace ${installation.workersNamespace}` }
  const detail = `in namespace ${installation.workersNamespace} the controller may not: ${missing.map(formatRight).join(', ')}`
  return failing(detail, 'apply k8s/controller-role.yaml there, bound to the account of the controller')
}
