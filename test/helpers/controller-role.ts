import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { TestCluster } from './cluster.ts'
import { controllerUser } from './cluster-programs.ts'

/** Path of the controller's Role. */
export const controllerRole = resolve(import.meta.dirname, '../../k8s/controller-role.yaml')

/** Binds the controller's user in a namespace to exactly the Roles of a file. */
export const grantController = async (
  { kubectl, apply }: Pick<TestCluster, 'kubectl' | 'apply'>,
  namespace: string,
  file = controllerRole,
): Promise<void> => {
  const applied = await kubectl(
    ['apply', '--server-side', '-n', namespace, '-o', 'name', '-f', '-'],
    await readFile(file, 'utf8'),
  )
  for (const [, name = ''] of applied.matchAll(/^role\.rbac\.authorization\.k8s\.io\/(\S+)/gm)) {
    await apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: controllerUser }],
    })
  }
}
