import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import t from 'tap'
import { rightsIn } from '#cli/cluster-doctor/rights.ts'

const root = resolve(import.meta.dirname, '../../../..')

t.test('rights: checks every permission of the Role', async (t) => {
  const role = await readFile(`${root}/k8s/controller-role.yaml`, 'utf8')
  const rights = rightsIn(role)
  const verbs = [...role.matchAll(/verbs: \[(.*)\]/g)].flatMap(([, list = '']) => list.split(', '))
  t.equal(rights.length, verbs.length, 'each rule names one resource')
  t.match(rights, [{ group: 'shutterfleet.dev', resource: 'browserpools', verb: 'list' }])
  t.ok(rights.some(({ group, resource, verb }) => group === '' && resource === 'pods' && verb === 'delete'))
  t.ok(rights.some(({ subresource }) => subresource === 'scale'))
  t.throws(() => rightsIn('rules: []'), /names no rights/)
})
