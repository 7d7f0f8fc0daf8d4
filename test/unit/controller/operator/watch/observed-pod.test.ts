import t from 'tap'
import {
  conditionOf,
  hasEnded,
  isNodeLost,
  isReady,
  isStopping,
  trimPod,
} from '#controller/operator/watch/observed-pod.ts'
import { podObject } from '#test/helpers/kube-objects.ts'

t.test('of a pod what is read is kept, long messages cut', async (t) => {
  const pod = podObject('a', { ready: false, waiting: { reason: 'ErrImagePull', message: 'm'.repeat(1000) } })
  const spec = { nodeName: 'one', containers: [{ name: 'worker', image: 'x' }] }
  const raw = {
    ...pod,
    spec,
    metadata: { ...pod.metadata, managedFields: [{}], ownerReferences: [{}] },
    status: { ...pod.status, hostIP: '1', qosClass: 'x' },
  }
  const seen = trimPod(raw)
  t.strictSame(Object.keys(seen), ['metadata', 'spec', 'status'])
  t.strictSame(seen.spec, { nodeName: 'one' })
  t.strictSame(seen.metadata, pod.metadata)
  t.strictSame(Object.keys(seen.status ?? {}), ['phase', 'conditions', 'containerStatuses'])
  t.match(seen.status?.containerStatuses, [
    {},
    { name: 'worker', state: { waiting: { reason: 'ErrImagePull', message: /^m{300}$/ } } },
  ])
})

t.test('a pod that has just been made has nothing to say', async (t) => {
  const { metadata } = podObject('a')
  const seen = trimPod({ metadata })
  t.equal(conditionOf(seen, 'Ready'), undefined)
  t.notOk(isReady(seen) || isStopping(seen) || hasEnded(seen))
})

t.test('a pod tells whether it is ready, goes, or has ended', async (t) => {
  t.ok(isReady(podObject('a')))
  t.ok(isStopping(podObject('a', { stopping: true })))
  t.ok(hasEnded(podObject('a', { phase: 'Failed' })))
})

t.test('a pod that waits for a readiness gate is on no lost node', async (t) => {
  const pod = podObject('a', { isNodeLost: true })
  t.ok(isNodeLost(pod))
  const conditions = pod.status?.conditions?.map((each) =>
    each.type === 'Ready' ? { ...each, reason: 'ReadinessGatesNotReady' } : each,
  )
  t.notOk(isNodeLost({ ...pod, status: { ...pod.status, ...(conditions && { conditions }) } }))
})
