import t from 'tap'
import { type WorkerListParts, listWorkers } from '#controller/operator/pods/list-workers.ts'
import { trimDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { troubleOf } from '#controller/operator/pods/pod-trouble.ts'
import { conditionOf } from '#controller/operator/watch/observed-object.ts'
import { type DeploymentParts, deploymentObject, podObject } from '#test/helpers/kube-objects.ts'

const failure = (message: string) => [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }]

const list = (of: Partial<WorkerListParts> & { deploymentIs?: DeploymentParts }) => {
  const deployment = trimDeployment(deploymentObject('web', of.deploymentIs))
  return listWorkers({
    deployment,
    replicas: deployment.replicas,
    pods: [],
    terminating: new Set(),
    ageMs: () => 5000,
    troubleOf: (pod) => troubleOf(pod, { unscheduledMs: 0, startingMs: 0 }, 300_000),
    wasReady: (pod) => conditionOf(pod, 'Ready')?.status === 'True',
    starts: { starts: { ready: 3, failed: 0 }, startMs: 2000, provisionMs: undefined },
    ...of,
  })
}
const names = ({ workers }: ReturnType<typeof list>) => workers.map(({ pod }) => pod)

t.test('worker list: pods are workers, with their age, their trouble and whether they terminate', async (t) => {
  const pods = [
    podObject('ready'),
    podObject('going', { stopping: true }),
    podObject('stuck', { ready: false, waiting: { reason: 'ErrImagePull', message: 'not found' } }),
    podObject('waits', { ready: false, unschedulable: 'no room' }),
  ]
  const { workers, starts, startMs, troubles, refused } = list({ pods })
  t.strictSame(workers, [
    { pod: 'ready', ageMs: 5000, stopping: false },
    { pod: 'going', ageMs: 5000, stopping: true },
    { pod: 'stuck', ageMs: 5000, stopping: false, trouble: 'image-pull' },
    { pod: 'waits', ageMs: 5000, stopping: false, isUnscheduled: true },
  ])
  t.strictSame({ starts, startMs, refused }, { starts: { ready: 3, failed: 0 }, startMs: 2000, refused: undefined })
  t.strictSame([...troubles], [['image-pull', 'not found']])
})

t.test('worker list: pods that their node does not start for long are in trouble', async (t) => {
  const pods = [podObject('a', { ready: false, waiting: { reason: 'ContainerCreating' } })]
  t.match(list({ pods }).workers, [{ pod: 'a', trouble: undefined }])
  const listed = list({
    pods,
    troubleOf: (pod) => troubleOf(pod, { unscheduledMs: 0, startingMs: 120_001 }, 300_000),
  })
  t.match(listed.workers, [{ pod: 'a', trouble: 'not-starting' }])
  t.ok(listed.troubles.has('not-starting'))
})

t.test('worker list: ended pods are not workers', async (t) => {
  const pods = [podObject('evicted', { phase: 'Failed' }), podObject('done', { phase: 'Succeeded' }), podObject('a')]
  t.strictSame(names(list({ pods })), ['a'])
})

t.test('worker list: a pod removed by a reduced size counts as terminating before the informer shows it', async (t) => {
  const { workers } = list({ pods: [podObject('a')], terminating: new Set(['uid-a']) })
  t.match(workers, [{ pod: 'a', stopping: true }])
})

t.test('worker list: pods that cannot be created are refused, by a quota or otherwise', async (t) => {
  const quota = {
    replicas: 3,
    status: { replicas: 1, conditions: failure('pods "x" is forbidden: exceeded quota: few') },
  }
  t.strictSame(list({ pods: [podObject('a')], deploymentIs: quota }).refused, { count: 2, trouble: 'quota' })
  const other = { replicas: 3, status: { replicas: 1, conditions: failure('no PriorityClass x') } }
  const listed = list({ pods: [podObject('a')], deploymentIs: other })
  t.strictSame(listed.refused, { count: 2, trouble: 'pods-refused' })
  t.strictSame([...listed.troubles], [['pods-refused', 'no PriorityClass x']])
})

t.test('worker list: pods that are no longer requested are not refused', async (t) => {
  const deploymentIs = { replicas: 1, status: { replicas: 1, conditions: failure('exceeded quota') } }
  t.equal(list({ pods: [podObject('a')], deploymentIs }).refused, undefined)
})

t.test('worker list: pods without a Deployment are listed', async (t) => {
  const listed = list({ deployment: undefined, replicas: 0, pods: [podObject('left')] })
  t.strictSame(names(listed), ['left'])
  t.notOk(listed.isRollingOut)
})

const rolling = { replicas: 2, status: { replicas: 3, updatedReplicas: 1 } }

t.test(
  'worker list: during a rollout, surplus pods that were never ready are not counted, stuck ones first',
  async (t) => {
    const stuck = podObject('stuck', { ready: false, waiting: { reason: 'ErrImagePull' } })
    const coming = podObject('coming', { ready: false })
    const old = podObject('old')
    const listed = list({ pods: [coming, stuck, old], deploymentIs: rolling })
    t.strictSame(names(listed), ['coming', 'old'])
    t.ok(listed.isRollingOut)
    t.ok(listed.troubles.has('image-pull'), 'their trouble is reported')
  },
)

t.test('worker list: a draining worker is counted, though it is not ready', async (t) => {
  const drained = podObject('drained', { ready: false })
  const pods = [podObject('a'), podObject('b'), drained]
  const listed = list({ pods, deploymentIs: rolling, wasReady: () => true })
  t.strictSame(names(listed), ['a', 'b', 'drained'])
})

t.test('worker list: without a rollout there is no surplus', async (t) => {
  const pods = [podObject('a'), podObject('b'), podObject('c', { ready: false })]
  const listed = list({ pods, deploymentIs: { replicas: 2, status: { replicas: 3, updatedReplicas: 3 } } })
  t.strictSame(names(listed), ['a', 'b', 'c'])
})

t.test('worker list: more pods than requested are a surplus, whatever the Deployment has observed yet', async (t) => {
  const pods = [podObject('a'), podObject('b'), podObject('c', { ready: false })]
  t.ok(list({ pods, deploymentIs: { replicas: 2 } }).hasSurplus)
  t.ok(list({ pods, deploymentIs: rolling }).hasSurplus)
  t.notOk(list({ pods, deploymentIs: { replicas: 3 } }).hasSurplus)
  t.notOk(list({ pods, deploymentIs: { replicas: 2 }, terminating: new Set(['uid-a']) }).hasSurplus)
  t.notOk(list({ pods: [podObject('a', { stopping: true }), ...pods], deploymentIs: { replicas: 3 } }).hasSurplus)
})

t.test('worker list: a rollout is stalled if none of its new pods can start', async (t) => {
  const deploymentIs = { replicas: 2, status: { replicas: 4, updatedReplicas: 2 } }
  const old = [podObject('a'), podObject('b')]
  const broken = podObject('c', { ready: false, waiting: { reason: 'ErrImagePull' } })
  const coming = podObject('d', { ready: false, waiting: { reason: 'ContainerCreating' } })
  for (const { name, pods, want } of [
    { name: 'all of them are in trouble', pods: [...old, broken], want: true },
    { name: 'one of them still may', pods: [...old, broken, coming], want: false },
    { name: 'there is none', pods: old, want: false },
  ])
    t.equal(list({ deploymentIs, pods }).isRolloutStalled, want, name)
  t.equal(list({ pods: [...old, broken] }).isRolloutStalled, false, 'nothing is rolled out')
})

t.test('worker list: if Kubernetes has marked one pod of a node, all its pods are on a lost node', async (t) => {
  const pods = [
    podObject('marked', { node: 'one', isNodeLost: true }),
    podObject('coming', { node: 'one', ready: false, waiting: { reason: 'ContainerCreating' } }),
    podObject('well', { node: 'two' }),
    podObject('unready', { node: 'three', ready: false }),
  ]
  t.strictSame(
    list({ pods }).workers.flatMap(({ pod, isNodeLost }) => (isNodeLost ? [pod] : [])),
    ['marked', 'coming'],
  )
})
