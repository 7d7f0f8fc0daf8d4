import t from 'tap'
import { conditionOf } from '#controller/operator/watch/observed-object.ts'
import { hasEnded, isNodeLost, isReady, isStopping, trimPod } from '#controller/operator/watch/observed-pod.ts'
import { podObject } from '#test/helpers/kube-objects.ts'

t.test('observed pod: only used fields are kept, and long messages are truncated', async (t) => {
  const pod = podObject('a', { ready: false, waiting: { reason: 'ErrImagePull', message: 'm'.repeat(1000) } })
  const spec = { nodeName: 'one', containers: [{ name: 'worker', image: 'x' }] }
  const raw = {
    ...pod,
    spec,
    metadata: { ...pod.metadata, managedFields: [{}], ownerReferences: [{}] },
    status: { ...pod.status, hostIP: '1', qosClass: 'x' },
  }
  const observation = trimPod(raw)
  t.strictSame(Object.keys(observation), ['metadata', 'spec', 'status'])
  t.strictSame(observation.spec, { nodeName: 'one' })
  t.strictSame(observation.metadata, pod.metadata)
  t.strictSame(Object.keys(observation.status ?? {}), [
    'phase',
    'conditions',
    'containerStatuses',
    'initContainerStatuses',
  ])
  t.match(observation.status?.containerStatuses, [
    {},
    { name: 'worker', state: { waiting: { reason: 'ErrImagePull', message: /^m{300}$/ } } },
  ])
})

t.test('observed pod: a new pod has no status', async (t) => {
  const { metadata } = podObject('a')
  const observation = trimPod({ metadata })
  t.equal(conditionOf(observation, 'Ready'), undefined)
  t.notOk(isReady(observation) || isStopping(observation) || hasEnded(observation))
})

t.test('observed pod: ready, terminating, or ended', async (t) => {
  t.ok(isReady(podObject('a')))
  t.ok(isStopping(podObject('a', { stopping: true })))
  t.ok(hasEnded(podObject('a', { phase: 'Failed' })))
})

t.test('observed pod: a pod waiting for a readiness gate is not on a lost node', async (t) => {
  const pod = podObject('a', { isNodeLost: true })
  t.ok(isNodeLost(pod))
  const conditions = pod.status?.conditions?.map((each) =>
    each.type === 'Ready' ? { ...each, reason: 'ReadinessGatesNotReady' } : each,
  )
  t.notOk(isNodeLost({ ...pod, status: { ...pod.status, ...(conditions && { conditions }) } }))
})
