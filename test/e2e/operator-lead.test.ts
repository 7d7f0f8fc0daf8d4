import t from 'tap'
import { workersName } from '#shared/kube/names.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'
import type { OperatorProcess } from '#test/helpers/operator-process.ts'

const world = await startOperatorCluster(t, { settings: { CONTROLLER_LEASE_SECONDS: '6' } })
const { cluster, queue, fleet, applyPool, poolOf, deploymentOf, settles } = world

type Versions = { items: { kind: string; metadata: { name: string; resourceVersion: string } }[] }

/** The objects that an operator writes, with versions except for events, whose counts a stopping operator updates. */
const written = async () => {
  const { items } = await cluster.get<Versions>('bp,deployment,pdb,pods,events.events.k8s.io')
  const versionOf = ({ kind, metadata }: Versions['items'][0]) => (kind === 'Event' ? '' : metadata.resourceVersion)
  return items.map((item) => `${item.kind} ${item.metadata.name} ${versionOf(item)}`).toSorted()
}
const decisionsOf = async (operator: OperatorProcess) =>
  [...(await operator.metrics()).matchAll(/^shutterfleet_pool_decisions_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  )
const roleOf = async (operator: OperatorProcess) => (await operator.health()).detail['role']
const currentOwner = async () =>
  (await cluster.get<{ spec: { holderIdentity: string } }>('lease', 'shutterfleet-controller')).spec.holderIdentity
const decides = (operator: OperatorProcess, withinMs: number) =>
  eventually(async () => (await decisionsOf(operator)) > 0, { withinMs, what: `${operator.name} decides` })
/** Waits until nothing was written during 20 decisions, longer than status numbers are throttled. */
const isQuiet = async (operator: OperatorProcess) => {
  let before = { versions: '', decisions: 0 }
  await eventually(
    async () => {
      const versions = JSON.stringify(await written())
      if (versions !== before.versions) before = { versions, decisions: await decisionsOf(operator) }
      return (await decisionsOf(operator)) > before.decisions + 20
    },
    { withinMs: 60_000, what: 'no write during 20 decisions' },
  )
}

const { operator: one } = world
const edit = JSON.stringify({ spec: { template: { spec: { terminationGracePeriodSeconds: 7 } } } })
const editFixed = () => cluster.kubectl(['patch', 'deployment', workersName('fixed'), '--type=merge', '-p', edit])
const isReverted = () =>
  eventually(async () => (await deploymentOf('fixed')).spec.template.spec.terminationGracePeriodSeconds === 100, {
    what: 'the edit is reverted',
  })
const uidsOf = async (name: string) => (await world.podsOf(name)).map(({ metadata }) => metadata.uid).toSorted()
/** The operator that was started last. */
const newest = () => world.others().at(-1) ?? one

t.test('operator lead: one operator leads, the other is standby with warm caches', async (t) => {
  await applyPool('queue', {
    autoscaling: { minReplicas: 2 },
    scaleDown: { stabilizationWindowSeconds: 1, periodSeconds: 1 },
  })
  await applyPool('fixed', { autoscaling: { enabled: false }, replicas: 3 })
  await applyPool('taken', {})
  await settles('queue', 2)
  await settles('fixed', 3)
  await world.holds('taken', 'Degraded', 'True PoolTaken')
  const two = await world.startAnother('two')
  await eventually(async () => (await two.health()).ready)
  t.equal(await roleOf(one), 'leader')
  t.match(await two.health(), { ready: true, live: true, detail: { role: 'standby', pools: '3' } })
  t.match(await one.health(), { detail: { pools: '2' } })
  t.equal(await decisionsOf(two), 0)
  t.match(await currentOwner(), /^one-/)
})

t.test(
  'operator lead: after a graceful handover the next leader acts within 5 s and does not change a settled fleet',
  async (t) => {
    await isQuiet(one)
    const before = await written()
    t.equal(await one.stop(), 0)
    await decides(newest(), 5000)
    await eventually(async () => (await decisionsOf(newest())) > 20)
    t.match(await currentOwner(), /^two-/)
    t.strictSame(await written(), before)
  },
)

t.test('operator lead: a new leader resumes scaling and reverts edits', async (t) => {
  await queue.send(8)
  await queue.allEnded()
  await cluster.kubectl(['scale', 'bp', 'fixed', '--replicas=4'])
  await settles('fixed', 4)
  await editFixed()
  await isReverted()
  await settles('fixed', 4)
  t.match(await poolOf('fixed'), { status: { reason: 'fixed' } })
  t.strictSame(fleet.busyEnds(), [])
})

t.test('operator lead: edits without a leader are reverted by the next leader', async (t) => {
  t.equal(await newest().stop(), 0)
  await editFixed()
  await world.startAnother('three')
  await isReverted()
  await settles('fixed', 4)
  t.equal(await roleOf(newest()), 'leader')
})

t.test('operator lead: a newly started leader does not change a settled fleet', async (t) => {
  await isQuiet(newest())
  const before = await written()
  await newest().stop()
  await world.startAnother('four')
  await decides(newest(), 30_000)
  await eventually(async () => (await decisionsOf(newest())) > 20)
  t.strictSame(await written(), before)
})

t.test('operator lead: a killed leader is replaced and its workers are kept', async (t) => {
  const last = newest()
  const before = await uidsOf('fixed')
  const five = await world.startAnother('five')
  await eventually(async () => (await five.health()).ready)
  await last.kill()
  await decides(five, 20_000)
  await eventually(async () => (await decisionsOf(five)) > 20)
  t.match(await currentOwner(), /^five-/)
  t.strictSame(await uidsOf('fixed'), before)
})
