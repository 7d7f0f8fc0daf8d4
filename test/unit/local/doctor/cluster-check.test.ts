import { readFile } from 'node:fs/promises'
import { json } from 'node:stream/consumers'
import { resolve } from 'node:path'
import t from 'tap'
import { runCheck } from '#local/doctor/check.ts'
import { clusterCheck, rightsIn } from '#local/doctor/cluster-check.ts'
import { startAnsweringApi } from '#test/helpers/answering-api.ts'

const root = resolve(import.meta.dirname, '../../../..')

type Asked = { spec: { resourceAttributes: { verb: string; resource: string; namespace: string } } }

/** What is found where the API server allows what `allows` says. */
const found = async (t: Tap, allows: (asked: Asked['spec']['resourceAttributes']) => boolean) => {
  const { kubeconfig } = await startAnsweringApi(t, async (request, response) => {
    const { resourceAttributes } = ((await json(request)) as Asked).spec
    response.writeHead(201, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ status: { allowed: allows(resourceAttributes) } }))
  })
  return runCheck(clusterCheck({ root, kubeconfig, namespace: '' }))
}
type Tap = Parameters<typeof startAnsweringApi>[0]

t.test('every right of the Role is asked for', async (t) => {
  const role = await readFile(`${root}/k8s/controller-role.yaml`, 'utf8')
  const rights = rightsIn(role)
  const verbs = [...role.matchAll(/verbs: \[(.*)\]/g)].flatMap(([, list = '']) => list.split(', '))
  t.equal(rights.length, verbs.length, 'each rule names one resource')
  t.match(rights, [{ group: 'shutterfleet.dev', resource: 'browserpools', verb: 'list' }])
  t.ok(rights.some(({ group, resource, verb }) => group === '' && resource === 'pods' && verb === 'delete'))
  t.ok(rights.some(({ subresource }) => subresource === 'scale'))
  t.throws(() => rightsIn('rules: []'), /names no rights/)
})

t.test('all rights are fine, and one that is missing is named', async (t) => {
  t.match(await found(t, ({ namespace }) => namespace === 'here'), { ok: true, detail: /rights in namespace here/ })
  const without = await found(t, ({ verb, resource }) => !(verb === 'delete' && resource === 'pods'))
  t.match(without, { ok: false, detail: 'in namespace here it may not: delete pods' })
})

t.test('no configuration of a cluster fails', async (t) => {
  t.match(await runCheck(clusterCheck({ root, kubeconfig: '/nowhere', namespace: '' })), { ok: false })
})
