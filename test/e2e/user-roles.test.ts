import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import t from 'tap'
import { startCluster } from '#test/helpers/cluster.ts'
import { eventually } from '#test/helpers/eventually.ts'

const root = resolve(import.meta.dirname, '../..')
const cluster = await startCluster(t, { kwok: false })
await cluster.applyCrd(await readFile(`${root}/crds/browserpools.shutterfleet.dev.yaml`, 'utf8'))
for (const role of ['view', 'edit']) {
  await cluster.kubectl(['create', 'rolebinding', role, '-n', 'default', `--clusterrole=${role}`, `--user=${role}`])
}

/** Whether a user may perform a verb on a resource or on its subresource. */
const may = (user: string, verb: string, resource: string, subresource?: string) => {
  const part = subresource === undefined ? [] : [`--subresource=${subresource}`]
  return cluster.kubectl(['auth', 'can-i', verb, resource, ...part, `--as=${user}`, '-n', 'default']).then(
    () => true,
    () => false,
  )
}

t.test(
  'user roles: the role view may read BrowserPools of its namespace, the role edit may change and scale them',
  async (t) => {
    t.notOk(await may('view', 'list', 'browserpools'))
    await cluster.apply(await readFile(`${root}/k8s/user-roles.yaml`, 'utf8'))
    await eventually(async () => (await may('view', 'list', 'browserpools')) && may('edit', 'patch', 'browserpools'), {
      what: 'the rules are aggregated to the cluster roles',
    })
    t.notOk(await may('view', 'patch', 'browserpools'))
    t.notOk(await may('view', 'patch', 'browserpools', 'scale'))
    t.ok(await may('edit', 'patch', 'browserpools', 'scale'))
    t.notOk(await may('edit', 'patch', 'browserpools', 'status'), 'only the controller writes the status')
    t.notOk(await may('stranger', 'list', 'browserpools'))
  },
)
