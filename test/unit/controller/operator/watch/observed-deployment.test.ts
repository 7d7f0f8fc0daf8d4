import t from 'tap'
import { trimChild, trimDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { replicasOwner, workersName } from '#shared/kube/names.ts'
import { deploymentObject } from '#test/helpers/kube-objects.ts'

t.test('observed Deployment: the fields that are read are kept, and no others', async (t) => {
  const conditions = [
    { type: 'Available', status: 'True' },
    { type: 'ReplicaFailure', status: 'True', message: 'm'.repeat(1000) },
  ]
  const seen = trimDeployment(deploymentObject('web', { applied: 'abc', status: { conditions } }))
  t.match(seen, {
    metadata: { name: workersName('web'), namespace: 'n', resourceVersion: '1' },
    owner: 'uid-web',
    applied: 'abc',
    hasForeignSpec: false,
    replicas: 2,
    status: { replicas: 2, updatedReplicas: 2, conditions: [{ type: 'ReplicaFailure' }] },
  })
  t.equal(seen.status.conditions?.length, 1)
  t.equal(seen.status.conditions?.[0]?.message?.length, 300)
  t.notOk('managedFields' in seen.metadata)
  t.notOk('excessEntry' in seen)
})

t.test('observed Deployment: the hash of the spec changes with everything but the size', async (t) => {
  const hash = (parts: object) => trimDeployment(deploymentObject('web', parts)).specHash
  t.equal(hash({ replicas: 2 }), hash({ replicas: 7 }))
  t.not(hash({}), hash({ spec: { template: { spec: {} } } }))
  t.not(hash({}), hash({ spec: { paused: true } }))
})

t.test('observed Deployment: without fields of the controller nothing counts as applied', async (t) => {
  const managedFields = [{ manager: replicasOwner, fieldsV1: { 'f:spec': { 'f:template': {} } } }]
  const seen = trimDeployment(deploymentObject('web', { applied: 'abc', managedFields, owner: null }))
  t.equal(seen.applied, undefined)
  t.equal(seen.owner, undefined)
  t.equal(seen.excessEntry, 0)
})

t.test('observed Deployment: a PodDisruptionBudget is trimmed likewise', async (t) => {
  t.match(trimChild(deploymentObject('web', { applied: 'abc' })), {
    owner: 'uid-web',
    applied: 'abc',
    specHash: String,
  })
})
