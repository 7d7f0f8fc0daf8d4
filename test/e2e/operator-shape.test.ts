import t from 'tap'
import { appliedAnnotation, fieldOwner, poolLabels, replicasOwner, workersName } from '#shared/kube/names.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperatorCluster, type WorkersDeployment } from '#test/helpers/operator-cluster.ts'
import { environmentOf } from '#test/helpers/worker-pod-object.ts'

const world = await startOperatorCluster(t)
const { cluster, fleet, applyPool, deploymentOf, settles, podsOf } = world
t.afterEach(world.removePools)

const apiVersion = 'apps/v1'
const hasNoOtherOwner = ({ metadata }: WorkersDeployment) =>
  metadata.managedFields.every(({ manager }) => manager !== 'other')
const environmentIn = ({ spec }: WorkersDeployment) => environmentOf({ ...spec.template, metadata: { name: '' } })
/** Server-side apply with another field manager. */
const applyAsOther = (manifest: object) =>
  cluster.kubectl(
    ['apply', '--server-side', '--force-conflicts', '--field-manager=other', '-f', '-'],
    JSON.stringify(manifest),
  )
const patch = (what: string, name: string, body: object) =>
  cluster.kubectl(['patch', what, name, '--type=merge', '-p', JSON.stringify(body)])
/** Milliseconds by which each retry of an apply was earlier than the `retryMs` of the previous failure. */
const earlyRetriesMs = (pool: string): readonly number[] => {
  type Line = { readonly msg: string; readonly pool?: string; readonly time: string; readonly retryMs: number }
  const lines = world.operator.log().split('\n').slice(0, -1)
  const failures = lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === 'apply failed')
  const ofPool = failures.filter((line) => line.pool === pool)
  return ofPool.slice(1).map(({ time }, index) => {
    const { time: before, retryMs } = ofPool[index]!
    return Date.parse(before) + retryMs - Date.parse(time)
  })
}
/** Waits for six failed retries, none of which is early by more than the 5 ms that clocks round. */
const assertBackOff = async (pool: string) => {
  await eventually(() => earlyRetriesMs(pool).length >= 6, { what: `${pool} was retried` })
  t.ok(Math.max(...earlyRetriesMs(pool)) <= 5, `${pool}: ${earlyRetriesMs(pool).join(', ')}`)
}

t.test('operator shape: a BrowserPool gets a Deployment whose replicas have a separate field owner', async (t) => {
  await applyPool('first', { autoscaling: { minReplicas: 3 } })
  await settles('first', 3)
  const { metadata, spec } = await deploymentOf('first')
  t.equal(spec.replicas, 3)
  t.match(metadata.labels, poolLabels('shutterfleet', 'first'))
  await eventually(async () => {
    const managed = (await deploymentOf('first')).metadata.managedFields
    const ofSize = managed.filter(({ manager }) => manager === replicasOwner)
    return JSON.stringify(ofSize.map(({ fieldsV1 }) => fieldsV1)) === '[{"f:spec":{"f:replicas":{}}}]'
  })
  const owned = metadata.managedFields.find(({ manager }) => manager === fieldOwner)?.fieldsV1['f:spec'] ?? {}
  t.ok('f:template' in owned)
  t.notOk('f:replicas' in owned)

  const budget = await cluster.get<object>('pdb', workersName('first'))
  t.match(budget, { spec: { maxUnavailable: '20%', unhealthyPodEvictionPolicy: 'AlwaysAllow' } })
  await eventually(async () => {
    const { status } = await cluster.get<{ status: { expectedPods: number } }>('pdb', workersName('first'))
    return status.expectedPods === 3
  })
})

t.test('operator shape: changes of the template are applied to the Deployment, and its size stays', async (t) => {
  const env = (...names: string[]) => names.map((name) => ({ name: `SHUTTERFLEET_WORKER_${name}`, value: '20000' }))
  const team = 'custom.shutterfleet.dev/team'
  const scaleDown = { stabilizationWindowSeconds: 3600 }
  const sized = (minReplicas: number) => ({ minReplicas })
  await applyPool('template', {
    autoscaling: sized(3),
    scaleDown,
    template: { env: env('HEIGHT_MAX', 'RECYCLE_CAPTURES'), labels: { [team]: 'a' } },
  })
  await settles('template', 3)
  await applyPool('template', {
    autoscaling: sized(1),
    scaleDown,
    template: { env: env('RECYCLE_CAPTURES', 'PIXELS_MAX') },
  })
  await eventually(async () => {
    const variables = environmentIn(await deploymentOf('template'))
    return (
      !('SHUTTERFLEET_WORKER_HEIGHT_MAX' in variables) &&
      'SHUTTERFLEET_WORKER_RECYCLE_CAPTURES' in variables &&
      'SHUTTERFLEET_WORKER_PIXELS_MAX' in variables
    )
  })
  const { spec } = await deploymentOf('template')
  t.equal(spec.replicas, 3)
  t.notOk(spec.template.metadata.labels?.[team])
  await eventually(async () =>
    (await podsOf('template')).every((pod) => 'SHUTTERFLEET_WORKER_PIXELS_MAX' in environmentOf(pod)),
  )
  // During the rollout there are more workers than required; the Deployment removes the surplus without drains.
  t.notMatch(await world.operator.metrics(), /^shutterfleet_pool_decisions_total\{.*decision="drain".*\}/m)
})

t.test('operator shape: fields that others add are kept, fields that they change are reverted', async (t) => {
  await applyPool('edited', { autoscaling: { minReplicas: 1 } })
  await settles('edited', 1)
  const name = workersName('edited')
  await applyAsOther({ apiVersion, kind: 'Deployment', metadata: { name }, spec: { minReadySeconds: 1 } })
  const template = { spec: { containers: [{ name: 'worker', image: 'other' }] } }
  await applyAsOther({ apiVersion, kind: 'Deployment', metadata: { name }, spec: { minReadySeconds: 1, template } })
  await eventually(async () => (await deploymentOf('edited')).spec.template.spec.containers[0]?.image === 'none')
  t.equal((await deploymentOf('edited')).spec.minReadySeconds, 1)

  // A removed field has no manager afterwards.
  const remove = [{ op: 'remove', path: '/spec/template/spec/containers/0/readinessProbe' }]
  await cluster.kubectl(['patch', 'deployment', name, '--type=json', '-p', JSON.stringify(remove)])
  await eventually(
    async () => 'readinessProbe' in ((await deploymentOf('edited')).spec.template.spec.containers[0] ?? {}),
  )

  await patch('pdb', name, { spec: { maxUnavailable: 0 } })
  await eventually(async () => {
    const { spec } = await cluster.get<{ spec: { maxUnavailable: unknown } }>('pdb', name)
    return spec.maxUnavailable === '20%'
  })
})

t.test('operator shape: removed labels are restored, and deleted objects are recreated with their size', async (t) => {
  await applyPool('lost', { autoscaling: { enabled: false }, replicas: 2 })
  await settles('lost', 2)
  const name = workersName('lost')
  const managedBy = 'app.kubernetes.io/managed-by'
  for (const what of ['deployment', 'pdb']) {
    await patch(what, name, { metadata: { labels: { [managedBy]: null } } })
    await eventually(
      async () => (await cluster.get<WorkersDeployment>(what, name)).metadata.labels[managedBy] === fieldOwner,
      { what: `the label of the ${what} is restored` },
    )
  }
  const { uid } = (await deploymentOf('lost')).metadata
  await cluster.kubectl(['delete', 'deployment,pdb', name])
  await eventually(async () => (await deploymentOf('lost')).metadata.uid !== uid, { what: 'another Deployment' })
  await settles('lost', 2)
  t.match(await cluster.get('pdb', name), { spec: { maxUnavailable: '20%' } })
})

t.test('operator shape: orphaned workers of a deleted Deployment are all adopted', async (t) => {
  await applyPool('orphans', { autoscaling: { minReplicas: 3 }, scaleDown: { stabilizationWindowSeconds: 3600 } })
  await settles('orphans', 3)
  await applyPool('orphans', { autoscaling: { minReplicas: 1 }, scaleDown: { stabilizationWindowSeconds: 3600 } })
  const before = (await podsOf('orphans')).map(({ metadata }) => metadata.name).toSorted()
  const { uid } = (await deploymentOf('orphans')).metadata
  await cluster.kubectl(['delete', 'deployment', workersName('orphans'), '--cascade=orphan'])
  await eventually(async () => (await deploymentOf('orphans')).metadata.uid !== uid, { what: 'another Deployment' })
  t.equal((await deploymentOf('orphans')).spec.replicas, 3)
  t.strictSame((await podsOf('orphans')).map(({ metadata }) => metadata.name).toSorted(), before)
})

t.test("operator shape: another owner's Deployment of that name is kept, and the pool is Degraded", async (t) => {
  const labels = { app: 'other' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'one', image: 'none' }] } }
  const name = workersName('foreign')
  const spec = { replicas: 0, selector: { matchLabels: labels }, template }
  await applyAsOther({ apiVersion, kind: 'Deployment', metadata: { name }, spec })
  t.teardown(() => cluster.kubectl(['delete', 'deployment', name, '--ignore-not-found']))
  await applyPool('foreign', {})
  await world.holds('foreign', 'Degraded', 'True ApplyFailed')
  t.match(await world.conditionOf('foreign', 'Degraded'), { message: /does not belong to this pool/ })
  await assertBackOff('foreign')
  t.notOk((await deploymentOf('foreign')).metadata.labels?.[appliedAnnotation])
  t.notOk(hasNoOtherOwner(await deploymentOf('foreign')))
  await cluster.kubectl(['delete', 'deployment', name])
  await settles('foreign', 1)
  await world.holds('foreign', 'Degraded', 'False AsExpected')
})

t.test(
  'operator shape: a pool whose Deployment is rejected is Degraded with the reason, and recovers when corrected',
  async (t) => {
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0 }] } }
    await applyPool('refused', { template: { affinity } })
    await world.holds('refused', 'Degraded', 'True ApplyFailed')
    t.match(await world.conditionOf('refused', 'Degraded'), { message: /weight/ })
    await world.tells('refused', 'ApplyFailed')
    await assertBackOff('refused')
    await applyPool('refused', {})
    await settles('refused', 1)
    await world.holds('refused', 'Degraded', 'False AsExpected')
  },
)

t.test('operator shape: the objects of a deleted BrowserPool are garbage-collected', async (t) => {
  await applyPool('last', {})
  await settles('last', 1)
  await cluster.kubectl(['delete', 'bp', 'last'])
  // The garbage collector discovers a new kind of object within 30 s.
  await eventually(async () => (await cluster.get<{ items: [] }>('deployment,pdb,pods')).items.length === 0, {
    withinMs: 90_000,
    what: 'all objects of all pools are deleted',
  })
  t.strictSame(fleet.busyEnds(), [])
})
