import t from 'tap'
import { trimChild, trimDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { fieldOwner, replicasOwner, workersName } from '#shared/kube/names.ts'
import { deploymentObject } from '#test/helpers/kube-objects.ts'

t.test('observed Deployment: only used fields are kept', async (t) => {
  const conditions = [
    { type: 'Available', status: 'True' },
    { type: 'ReplicaFailure', status: 'True', message: 'm'.repeat(1000) },
  ]
  const observation = trimDeployment(deploymentObject('web', { applied: 'abc', status: { conditions } }))
  t.match(observation, {
    metadata: { name: workersName('web'), namespace: 'n', resourceVersion: '1' },
    owner: 'uid-web',
    applied: 'abc',
    ownsReplicas: false,
    replicas: 2,
    status: { replicas: 2, updatedReplicas: 2, conditions: [{ type: 'ReplicaFailure' }] },
  })
  t.equal(observation.status.conditions?.length, 1)
  t.equal(observation.status.conditions?.[0]?.message?.length, 300)
  t.notOk('managedFields' in observation.metadata)
})

t.test('observed Deployment: the size belongs to the main field manager until it is handed over', async (t) => {
  const spec = { 'f:spec': { 'f:template': {}, 'f:replicas': {} } }
  const ownsReplicas = (manager: string, subresource?: string) =>
    trimDeployment(deploymentObject('web', { managedFields: [{ manager, subresource, fieldsV1: spec }], owner: null }))
      .ownsReplicas
  t.ok(ownsReplicas(fieldOwner))
  t.notOk(ownsReplicas(fieldOwner, 'scale'))
  t.notOk(ownsReplicas(replicasOwner))
})

t.test('observed Deployment: a PodDisruptionBudget is trimmed in the same way', async (t) => {
  t.match(trimChild(deploymentObject('web', { applied: 'abc' })), {
    owner: 'uid-web',
    applied: 'abc',
    ownsReplicas: false,
  })
})
