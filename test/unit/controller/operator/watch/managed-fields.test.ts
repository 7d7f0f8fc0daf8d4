import t from 'tap'
import { excessEntry, hasForeignSpec, isOurs, replicasOnly } from '#controller/operator/watch/managed-fields.ts'
import { fieldOwner, replicasOwner } from '#shared/kube/names.ts'

const template = { 'f:template': { 'f:spec': {} } }
const own = { manager: fieldOwner, fieldsV1: { 'f:metadata': {}, 'f:spec': template } }
const size = { manager: replicasOwner, fieldsV1: replicasOnly }
const scale = { ...size, subresource: 'scale' }

t.test('managed fields: the creator of a Deployment owns too much until its entry is reduced', async (t) => {
  const all = { manager: replicasOwner, fieldsV1: { 'f:metadata': {}, 'f:spec': { ...template, 'f:replicas': {} } } }
  const labels = { manager: replicasOwner, fieldsV1: { 'f:metadata': {}, ...replicasOnly } }
  t.equal(excessEntry([own, all]), 1)
  t.equal(excessEntry([labels]), 0)
  t.equal(excessEntry([own, size, scale]), undefined)
  t.equal(excessEntry([]), undefined)
})

t.test('managed fields: only a part of the spec beside the size makes a foreign manager', async (t) => {
  const by = (fieldsV1: object, subresource?: string) => ({
    manager: 'kubectl-edit',
    fieldsV1: fieldsV1 as never,
    ...(subresource !== undefined && { subresource }),
  })
  t.notOk(hasForeignSpec([own, size, scale]))
  t.notOk(hasForeignSpec([own, by({ 'f:status': {} }, 'status')]))
  t.notOk(hasForeignSpec([own, by({ 'f:metadata': { 'f:annotations': {} } })]))
  t.notOk(hasForeignSpec([own, by(replicasOnly)]))
  t.notOk(hasForeignSpec([own, by(replicasOnly, 'scale')]))
  t.ok(hasForeignSpec([own, by({ 'f:spec': template })]))
})

t.test("managed fields: an object is the controller's while it manages any field", async (t) => {
  t.ok(isOurs([own]))
  t.notOk(isOurs([size, { ...own, subresource: 'status' }]))
})
