import t from 'tap'
import { excessEntry, hasForeignSpec, isOurs, replicasOnly } from '#controller/operator/watch/managed-fields.ts'
import { fieldOwner, replicasOwner } from '#shared/kube/names.ts'

const template = { 'f:template': { 'f:spec': {} } }
const own = { manager: fieldOwner, fieldsV1: { 'f:metadata': {}, 'f:spec': template } }
const size = { manager: replicasOwner, fieldsV1: replicasOnly }
const scale = { ...size, subresource: 'scale' }

t.test('who made the Deployment owns too much until that is cut back', async (t) => {
  const all = { manager: replicasOwner, fieldsV1: { 'f:metadata': {}, 'f:spec': { ...template, 'f:replicas': {} } } }
  const labels = { manager: replicasOwner, fieldsV1: { 'f:metadata': {}, ...replicasOnly } }
  t.equal(excessEntry([own, all]), 1)
  t.equal(excessEntry([labels]), 0)
  t.equal(excessEntry([own, size, scale]), undefined)
  t.equal(excessEntry([]), undefined)
})

t.test('only a part of the spec beside the size makes somebody a stranger', async (t) => {
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

t.test('an object is ours while we decide anything of it', async (t) => {
  t.ok(isOurs([own]))
  t.notOk(isOurs([size, { ...own, subresource: 'status' }]))
})
