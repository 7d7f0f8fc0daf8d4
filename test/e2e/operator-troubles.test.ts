import t from 'tap'
import type { BrowserPoolStatus, PoolConditionType } from '#shared/kube/browser-pool.ts'
import { workersName } from '#shared/kube/names.ts'
import type { Fault } from '#test/helpers/cluster-fleet.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'

/** Faults of starting pods, by their image. */
const imageFaults = new Map<string, Fault>()
const world = await startOperatorCluster(t, {
  faultOf: (pod) => imageFaults.get(pod.spec.containers[0]?.image ?? ''),
  restartMs: 500,
})
const { cluster, queue, fleet, operator, applyPool, poolOf, deploymentOf, settles, podsOf } = world
t.afterEach(world.removePools)

const quick = { queueWaitMs: 100 }
const scaleDown = { stabilizationWindowSeconds: 1, periodSeconds: 1 }
/** The number of decisions about a pool so far. */
const decisionsOf = async (name: string) =>
  [...(await operator.metrics()).matchAll(/^shutterfleet_pool_decisions_total\{(.*)\} (\d+)$/gm)]
    .filter(([, labels]) => labels?.includes(`browserpool="${name}"`))
    .reduce((sum, [, , count]) => sum + Number(count), 0)
const sizeOf = async (name: string) => (await deploymentOf(name)).spec.replicas
/** Waits until exactly `ready` workers take captures. */
const serves = (name: string, ready: number) =>
  eventually(async () => (await poolOf(name)).status?.readyReplicas === ready, {
    what: `${ready} workers take captures`,
  })
const conditionIn = ({ conditions = [] }: BrowserPoolStatus, type: PoolConditionType) =>
  conditions.find((condition) => condition.type === type)

/** Waits until the trouble is reported as condition, event and metric; returns the condition. */
const shows = async (name: string, trouble: { word: string; type: PoolConditionType; reason: string }) => {
  const { word, type, reason } = trouble
  await world.holds(name, type, `True ${reason}`)
  await world.tells(name, reason)
  const line = new RegExp(`^shutterfleet_pool_workers_stuck\\{.*trouble="${word}".*\\} [1-9]`, 'm')
  await eventually(async () => line.test(await operator.metrics()), { what: `the metric of ${word}` })
  return conditionIn((await poolOf(name)).status ?? {}, type)
}

const cases = [
  {
    word: 'image-pull',
    reason: 'ImagePull',
    fault: { kind: 'cannot-start', reason: 'ImagePullBackOff', message: 'Back-off pulling image "x"' },
    message: /cannot get their image.*Back-off pulling image/,
  },
  {
    word: 'config-error',
    reason: 'ConfigError',
    fault: { kind: 'cannot-start', reason: 'CreateContainerError', message: 'cannot load seccomp profile "x"' },
    message: /cannot be set up by their node.*cannot load seccomp profile "x"/,
  },
  {
    word: 'crash-looping',
    reason: 'CrashLooping',
    fault: { kind: 'ends', exitCode: 70 },
    message: /end soon after they start/,
  },
] as const

for (const { word, reason, fault, message } of cases)
  t.test(`operator troubles: workers in ${word} are no capacity, are reported, and no more are created`, async (t) => {
    const image = word
    imageFaults.set(image, fault)
    await applyPool(word, {
      autoscaling: { ...quick, minReplicas: 2, maxReplicas: 20 },
      scaleDown,
      template: { image },
    })
    t.match(await shows(word, { word, type: 'Degraded', reason }), { message })
    await world.holds(word, 'Ready', 'False WorkersMissing')
    t.match(await poolOf(word), { status: { reason: word, readyReplicas: 0 } })

    // Each capture needs one worker: five are requested, and then no more.
    await queue.send(5)
    await eventually(async () => (await sizeOf(word)) === 5, { what: 'one worker per capture' })
    const pods = new Set<string>()
    const decided = await decisionsOf(word)
    await eventually(
      async () => {
        for (const { metadata } of await podsOf(word)) pods.add(metadata.name)
        return (await decisionsOf(word)) > decided + 5
      },
      { what: 'five more decisions' },
    )
    t.equal(pods.size, 5, 'no other pods were created')
    t.equal(await sizeOf(word), 5)

    imageFaults.delete(image)
    for (const pod of pods) fleet.clearFault(pod)
    await queue.allEnded()
    await world.holds(word, 'Degraded', 'False AsExpected')
    await settles(word, 2)
    await world.tells(word, 'Recovered')
  })

t.test('operator troubles: unschedulable workers are no capacity, and are removed first in a scale-down', async (t) => {
  const selector = { room: 'yes' }
  await applyPool('tight', { autoscaling: { enabled: false }, replicas: 2, template: { nodeSelector: selector } })
  const trouble = { word: 'unschedulable', type: 'Degraded', reason: 'Unschedulable' } as const
  t.match(await shows('tight', trouble), { message: /cannot be placed on any node.*nodes are available/ })
  const isStuck = async () => (await poolOf('tight')).status?.replicas === 2
  await eventually(isStuck, { what: 'both workers are counted' })
  t.match(await poolOf('tight'), { status: { reason: 'unschedulable', readyReplicas: 0 } })
  await cluster.kubectl(['scale', 'bp', 'tight', '--replicas=1'])
  await eventually(async () => (await podsOf('tight')).length === 1, { what: 'an unschedulable worker is deleted' })
  await cluster.kubectl(['label', 'node', 'fake-1', 'room=yes'])
  await settles('tight', 1)
  await world.holds('tight', 'Degraded', 'False AsExpected')
})

t.test(
  'operator troubles: a quota is reported as ScalingLimited, and a later scale-down lowers the size',
  async (t) => {
    const hard = { pods: '2' }
    await cluster.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' }, spec: { hard } })
    await cluster.kubectl(['wait', 'resourcequota/few', '--for=jsonpath={.status.hard}', '--timeout=30s'])
    await applyPool('limited', { autoscaling: { enabled: false }, replicas: 4, scaleDown })
    await serves('limited', 2)
    const trouble = { word: 'quota', type: 'ScalingLimited', reason: 'QuotaExceeded' } as const
    t.match(await shows('limited', trouble), { message: /refused by a quota.*exceeded quota: few/ })
    t.match(await poolOf('limited'), { status: { reason: 'quota', desiredReplicas: 4, replicas: 2 } })
    t.equal(await sizeOf('limited'), 4)
    await cluster.kubectl(['scale', 'bp', 'limited', '--replicas=1'])
    await settles('limited', 1)
    t.equal(await sizeOf('limited'), 1)
    await world.holds('limited', 'ScalingLimited', 'False WithinBounds')
    await cluster.kubectl(['delete', 'resourcequota', 'few'])
  },
)

t.test('operator troubles: an autoscaler of the Deployment itself is reported until it is gone', async (t) => {
  await applyPool('twice', { autoscaling: { enabled: false }, replicas: 1 })
  await settles('twice', 1)
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: workersName('twice') }
  const autoscaler = (name: string, scaleTargetRef: object) => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name },
    spec: { scaleTargetRef, maxReplicas: 1 },
  })
  const pool = { apiVersion: 'shutterfleet.dev/v1beta1', kind: 'BrowserPool', name: 'twice' }
  await cluster.apply(autoscaler('right', pool))
  await cluster.apply(autoscaler('wrong', target))
  await world.holds('twice', 'Degraded', 'True SizedByAnother')
  t.match(conditionIn((await poolOf('twice')).status ?? {}, 'Degraded'), {
    message: /HorizontalPodAutoscaler wrong sizes/,
  })
  await world.tells('twice', 'SizedByAnother')
  await cluster.kubectl(['delete', 'hpa', 'wrong'])
  await world.holds('twice', 'Degraded', 'False AsExpected')
  await cluster.kubectl(['delete', 'hpa', 'right'])
})

t.test('operator troubles: pods that are rejected for another reason are reported as PodsRefused', async (t) => {
  const template = { priorityClassName: 'nowhere' }
  await applyPool('refused', { autoscaling: { enabled: false }, replicas: 1, template })
  const trouble = { word: 'pods-refused', type: 'Degraded', reason: 'PodsRefused' } as const
  t.match(await shows('refused', trouble), { message: /refused by the API server.*nowhere/ })
})

t.test(
  'operator troubles: an image that cannot be pulled reduces no capacity, and a rollback keeps the old workers',
  async (t) => {
    await applyPool('rollout', { autoscaling: { enabled: false }, replicas: 4, scaleDown })
    await settles('rollout', 4)
    const before = (await podsOf('rollout')).map(({ metadata }) => metadata.name)
    imageFaults.set('bad', { kind: 'cannot-start', reason: 'ErrImagePull', message: 'not found' })
    await applyPool('rollout', { autoscaling: { enabled: false }, replicas: 4, template: { image: 'bad' } })
    const trouble = { word: 'image-pull', type: 'Degraded', reason: 'ImagePull' } as const
    await world.holds('rollout', trouble.type, `True ${trouble.reason}`)
    t.match(
      await operator.metrics(),
      /^shutterfleet_operator_pool_condition\{.*condition="Degraded",reason="ImagePull".*\} 1$/m,
    )
    t.match(await poolOf('rollout'), { status: { readyReplicas: 4, reason: 'fixed' } })
    await world.holds('rollout', 'Ready', 'False RollingOut')
    await world.holds('rollout', 'Reconciling', 'True RollingOut')
    await world.holds('rollout', 'Progressing', 'True Replacing')
    t.equal(await sizeOf('rollout'), 4)
    await applyPool('rollout', { autoscaling: { enabled: false }, replicas: 2, template: { image: 'bad' } })
    await eventually(async () => (await sizeOf('rollout')) === 2, { what: 'a scale-down during the rollout' })
    await applyPool('rollout', { autoscaling: { enabled: false }, replicas: 2 })
    await settles('rollout', 2)
    await world.holds('rollout', 'Degraded', 'False AsExpected')
    await world.holds('rollout', 'Ready', 'True WorkersReady')
    const after = (await podsOf('rollout')).map(({ metadata }) => metadata.name)
    t.ok(
      after.every((name) => before.includes(name)),
      'the workers of the old image are kept',
    )
  },
)

t.test('operator troubles: a drained worker does not block the rollout of a new template', async (t) => {
  await applyPool('both', { autoscaling: { enabled: false }, replicas: 4, scaleDown })
  await settles('both', 4)
  const old = (await podsOf('both')).map(({ metadata }) => metadata.name)
  const env = [{ name: 'SHUTTERFLEET_LOG_LEVEL', value: 'warn' }]
  await applyPool('both', {
    autoscaling: { enabled: false },
    replicas: 2,
    scaleDown,
    template: { env },
  })
  await settles('both', 2)
  const left = (await podsOf('both')).filter(({ metadata }) => old.includes(metadata.name))
  t.strictSame(left, [], 'all have the new template')
  t.equal(await sizeOf('both'), 2)
  t.ok((await cluster.kubectl(['rollout', 'status', 'deployment', workersName('both'), '--timeout=30s'])).length > 0)
})

t.test(
  'operator troubles: workers that their node does not start for two minutes are no capacity and are reported',
  async (t) => {
    imageFaults.set('held', { kind: 'cannot-start', reason: 'ContainerCreating' })
    await applyPool('held', { autoscaling: quick, scaleDown, template: { image: 'held' } })
    const isHeld = async () => {
      const [pod] = await podsOf('held')
      return pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ContainerCreating'
    }
    await eventually(isHeld, { what: 'a node is creating the container' })
    await world.holds('held', 'Progressing', 'True Starting')
    t.match(await poolOf('held'), { status: { reason: 'steady' } })

    // Instead of waiting for two minutes, start an operator whose clock is three minutes ahead.
    const later = await world.startAnother('later', { skewMs: 180_000 })
    await operator.stop()
    await world.holds('held', 'Degraded', 'True NotStarting')
    await world.tells('held', 'NotStarting')
    t.match(await poolOf('held'), { status: { reason: 'not-starting', readyReplicas: 0 } })
    t.match(await later.metrics(), /^shutterfleet_pool_workers_stuck\{.*trouble="not-starting".*\} 1$/m)
    await queue.send(3)
    await eventually(async () => (await sizeOf('held')) === 3, {
      what: 'further workers are requested, one of which may start',
    })

    imageFaults.delete('held')
    for (const { metadata } of await podsOf('held')) fleet.clearFault(metadata.name)
    await queue.allEnded()
    await world.holds('held', 'Degraded', 'False AsExpected')
    await settles('held', 1)
  },
)
