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
/** Waits until a worker of the pool serves a capture, and answers its pod. */
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
    what: `${pod} goes`,
  })

t.test('faults objects: workers that are deleted or evicted lose no capture', async (t) => {
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
        t.equal(attempt?.outcome, 'completed', 'it finished what it did')
        fleet.evict(await next(pool))
      }
    },
    { ends: (pod) => victims.has(pod) },
  )
  t.ok(fleet.ends.some(({ pod, how, busy }) => victims.has(pod) && how === 'killed' && busy.length > 0))
})

t.test(
  'faults objects: a worker whose node is gone serves on while it is heard, and is replaced when it is not',
  async (t) => {
    let lost = ''
    await endure(
      t,
      async () => {
        // None goes because there is less to do.
        await applyPool('standard', {
          ...specs.standard,
          autoscaling: { ...specs.standard.autoscaling, minReplicas: 6 },
        })
        await eventually(async () => (await namesOf('standard')).length === 6)
        lost = await busyOne('standard')
        fleet.afflict(lost, { kind: 'cut-off' })
        const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }]
        const status = JSON.stringify({ status: { phase: 'Unknown', conditions } })
        await kubectl(['patch', 'pod', lost, '--subresource=status', '--type=strategic', '-p', status])
        const served = () => fleet.attempts.filter(({ pod, outcome }) => pod === lost && outcome === 'completed').length
        const before = served()
        await eventually(() => served() > before + 2, { what: 'it serves on' })
        t.ok((await namesOf('standard')).includes(lost))

        fleet.afflict(lost, { kind: 'frozen' })
        await eventually(async () => !(await namesOf('standard')).includes(lost), {
          withinMs: 30_000,
          what: 'it is told to end',
        })
        fleet.heal(lost)
        await isGone(lost)
        await applyPool('standard', specs.standard)
      },
      { ends: (pod) => pod === lost },
    )
  },
)

t.test('faults objects: quotas that are reached in mid-burst limit both pools, and nothing else', async (t) => {
  const quota = (name: string, hard: object) =>
    cluster.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard } })
  await endure(t, async () => {
    const jobs = JSON.parse(await kubectl(['get', 'jobs', '-o', 'json'])) as { items: object[] }
    await quota('jobs', { 'count/jobs.batch': String(jobs.items.length + 2) })
    await quota('pods', { pods: '4' })
    await kubectl(['wait', 'resourcequota', '--all', '--for=jsonpath={.status.hard}', '--timeout=30s'])
    await queue.send(40)
    await queue.send(10, { pool: 'proxied' })
    await holds('proxied', 'ScalingLimited', 'True QuotaExceeded')
    await holds('standard', 'ScalingLimited', 'True QuotaExceeded')
    await kubectl(['delete', 'resourcequota', '--all'])
    await eventually(() => queue.poolStates.get('proxied')?.canStart === true, {
      withinMs: 60_000,
      what: 'Jobs can be started again',
    })
  })
})

t.test('faults objects: the definition of the resource may change under a running controller', async (t) => {
  const file = resolve(import.meta.dirname, '../../crds/browserpools.shutterfleet.dev.yaml')
  const real = await readFile(file, 'utf8')
  const other = real
    .replaceAll('maximum: 16', 'maximum: 99')
    .replaceAll('stabilizationWindowSeconds: 30', 'stabilizationWindowSeconds: 7')
    .replace(/( +)paused:\n/, '$1future:\n$1  type: string\n$1  default: new\n$1paused:\n')
  t.not(other, real)
  await endure(t, async () => {
    await cluster.applyCrd(other)
    await eventually(async () => 'future' in (await poolOf('standard')).spec, { what: 'the new default shows' })
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
    await eventually(async () => !('future' in (await poolOf('standard')).spec), { what: 'the default has gone' })
  })
})

t.test('faults objects: what others change while workers are busy is put right without harm', async (t) => {
  const before = new Set<string>()
  const ofOwnTemplate = (await namesOf('standard'))[0]?.replace(/[^-]*$/, '') ?? ''
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
        what: 'there are some again',
      })

      for (const name of await namesOf('standard')) before.add(name)
      await kubectl(['set', 'image', `deployment/${deployment}`, 'worker=other'])
      await eventually(async () => (await deploymentOf('standard')).spec.template.spec.containers[0]?.image === 'none')
    },
    // The scale and the template of others end whomever they like.
    { ends: (pod) => before.has(pod) || (!pod.startsWith(ofOwnTemplate) && pod.startsWith(deployment)) },
  )
})
