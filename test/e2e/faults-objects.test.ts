import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import t from 'tap'
import { workersName } from '#shared/kube/names.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startFaultedCluster } from '#test/helpers/faulted-cluster.ts'

const world = await startFaultedCluster(t)
const { cluster, fleet, queue, endure, podsOf, poolOf, deploymentOf, holds, specs, applyPool } = world
const { kubectl } = cluster

const deployment = workersName('standard')
const namesOf = async (pool: string) => (await podsOf(pool)).map(({ metadata }) => metadata.name)
const patch = (args: readonly string[], body: object) =>
  kubectl(['patch', ...args, '--type=merge', '-p', JSON.stringify(body)])
/** Waits until a worker of the pool serves a capture; returns its pod. */
const busyOne = async (pool: 'standard' | 'proxied', not: ReadonlySet<string> = new Set()): Promise<string> => {
  const find = () =>
    fleet
      .workers()
      .find((worker) => worker.spec.pool === pool && !not.has(worker.spec.pod) && worker.captures().length > 0)
  await eventually(() => find() !== undefined, { what: `a worker of ${pool} is busy` })
  return find()?.spec.pod ?? busyOne(pool, not)
}
const isGone = (pod: string) =>
  eventually(async () => !(await kubectl(['get', 'pods', '-o', 'name'])).includes(pod), {
    withinMs: 30_000,
    what: `${pod} is deleted`,
  })

t.test('faults objects: no capture is lost when workers are deleted or evicted', async (t) => {
  const victims = new Set<string>()
  const next = async (pool: 'standard' | 'proxied') => {
    const pod = await busyOne(pool, victims)
    victims.add(pod)
    return pod
  }
  await endure(
    t,
    async () => {
      for (const pool of ['standard', 'proxied'] as const) {
        const deleted = await next(pool)
        await kubectl(['delete', 'pod', deleted, '--wait=false'])
        await isGone(deleted)
        const attempt = fleet.attempts.findLast(({ pod }) => pod === deleted)
        t.equal(attempt?.outcome, 'completed', 'it finished its capture')
        fleet.evict(await next(pool))
      }
    },
    { ends: (pod) => victims.has(pod) },
  )
  t.ok(fleet.ends.some(({ pod, how, busy }) => victims.has(pod) && how === 'killed' && busy.length > 0))
})

t.test(
  'faults objects: a worker on a lost node keeps serving while it sends heartbeats, and is replaced without them',
  async (t) => {
    let lost = ''
    await endure(
      t,
      async () => {
        // With a fixed minimum no worker is scaled down.
        await applyPool('standard', {
          ...specs.standard,
          autoscaling: { ...specs.standard.autoscaling, minReplicas: 6 },
        })
        await eventually(async () => (await namesOf('standard')).length === 6)
        lost = await busyOne('standard')
        fleet.injectFault(lost, { kind: 'cut-off' })
        const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }]
        const status = JSON.stringify({ status: { phase: 'Unknown', conditions } })
        await kubectl(['patch', 'pod', lost, '--subresource=status', '--type=strategic', '-p', status])
        const served = () => fleet.attempts.filter(({ pod, outcome }) => pod === lost && outcome === 'completed').length
        const before = served()
        await eventually(() => served() > before + 2, { what: 'it keeps serving' })
        t.ok((await namesOf('standard')).includes(lost))

        fleet.injectFault(lost, { kind: 'frozen' })
        await eventually(async () => !(await namesOf('standard')).includes(lost), {
          withinMs: 30_000,
          what: 'it is terminating or deleted',
        })
        fleet.clearFault(lost)
        await isGone(lost)
        await applyPool('standard', specs.standard)
      },
      { ends: (pod) => pod === lost, thaws: (pod) => pod === lost },
    )
  },
)

t.test('faults objects: a running controller tolerates changes of the BrowserPool definition', async (t) => {
  const file = resolve(import.meta.dirname, '../../crds/browserpools.shutterfleet.dev.yaml')
  const real = await readFile(file, 'utf8')
  const other = real
    .replaceAll('maximum: 16', 'maximum: 99')
    .replaceAll('stabilizationWindowSeconds: 30', 'stabilizationWindowSeconds: 7')
    .replace(/( +)paused:\n/, '$1future:\n$1  type: string\n$1  default: new\n$1paused:\n')
  t.not(other, real)
  await endure(t, async () => {
    await cluster.applyCrd(other)
    await eventually(async () => 'future' in (await poolOf('standard')).spec, { what: 'the new default is served' })
    const names = await namesOf('standard')
    t.ok(names.length >= 2)
    const { uid } = (await deploymentOf('standard')).metadata
    await patch(['bp', 'standard'], { spec: { autoscaling: { slots: 20 } } })
    await holds('standard', 'Degraded', 'True ApplyFailed')
    t.match(await poolOf('standard'), { status: { reason: 'unsupported-spec' } })
    t.equal((await deploymentOf('standard')).metadata.uid, uid)
    await patch(['bp', 'standard'], { spec: { autoscaling: { slots: 1 } } })
    await holds('standard', 'Degraded', 'False AsExpected')
    await cluster.applyCrd(real)
    await eventually(async () => !('future' in (await poolOf('standard')).spec), {
      what: 'the new default is no longer served',
    })
  })
})

t.test('faults objects: edits of others while workers are busy are reverted without damage', async (t) => {
  const before = new Set<string>()
  const podPrefix = (await namesOf('standard'))[0]?.replace(/[^-]*$/, '') ?? ''
  await endure(
    t,
    async () => {
      await queue.send(24)
      await eventually(() => fleet.workers().filter((worker) => worker.captures().length > 0).length >= 5)
      await patch(['bp', 'standard'], { spec: { autoscaling: { enabled: false }, replicas: 2 } })
      await eventually(async () => (await namesOf('standard')).length === 2, { withinMs: 30_000, what: 'two workers' })
      await applyPool('standard', specs.standard)
      await patch(['bp', 'standard'], { spec: { autoscaling: { enabled: true } } })

      const managedBy = 'app.kubernetes.io/managed-by'
      await patch(['deployment', deployment], { metadata: { labels: { [managedBy]: null } } })
      await kubectl(['delete', 'pdb', deployment])
      await eventually(async () => (await cluster.get<object>('pdb', deployment)) !== undefined)
      await eventually(async () => managedBy in (await deploymentOf('standard')).metadata.labels)

      await kubectl(['scale', 'deployment', deployment, '--replicas=12'])
      await eventually(async () => (await namesOf('standard')).length >= 7, { what: 'many workers' })
      await eventually(async () => (await namesOf('standard')).length <= 6, { withinMs: 30_000, what: 'fewer workers' })
      for (const name of await namesOf('standard')) before.add(name)
      await kubectl(['scale', 'deployment', deployment, '--replicas=0'])
      await eventually(async () => (await deploymentOf('standard')).spec.replicas >= 2, {
        what: 'at least two replicas again',
      })

      for (const name of await namesOf('standard')) before.add(name)
      await kubectl(['set', 'image', `deployment/${deployment}`, 'worker=other'])
      await eventually(async () => (await deploymentOf('standard')).spec.template.spec.containers[0]?.image === 'none')
    },
    // Other users' scale and template may end any worker.
    { ends: (pod) => before.has(pod) || (!pod.startsWith(podPrefix) && pod.startsWith(deployment)) },
  )
})
