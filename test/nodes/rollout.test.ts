import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { holdCaptures } from '#test/helpers/nodes/held-captures.ts'
import { cluster, completed, outside, release, until, untilTwoReady } from '#test/helpers/nodes/running-release.ts'

type Quota = { readonly status: { readonly used?: { readonly pods?: string } } }

const { kubectl } = cluster
const namespace = release.workersNamespace

t.test('rollout: replaces workers under an exactly full quota without losing a capture', async (t) => {
  const before = await untilTwoReady()
  const metadata = { name: 'full', namespace }
  await cluster.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: { pods: '2' } } })
  const used = async () => (await cluster.get<Quota>('resourcequota', 'full', `-n=${namespace}`)).status.used?.pods
  await eventually(async () => (await used()) === '2', { what: 'the quota is full' })

  const captures = holdCaptures(release, outside)
  await captures.create(2)
  await captures.requested(2)
  const change = { spec: { template: { labels: { 'custom.shutterfleet.dev/template': 'second' } } } }
  await kubectl(['patch', 'bp', 'standard', `-n=${namespace}`, '--type=merge', `--patch=${JSON.stringify(change)}`])
  await until((workers) => workers.some(({ isEnding }) => isEnding))
  await captures.create(2)
  t.strictSame(await captures.finish(), completed(4))

  const old = new Set(before.map(({ name }) => name))
  await until((workers) => workers.filter(({ name, isReady }) => isReady && !old.has(name)).length === 2)
  t.equal(await used(), '2')
  await kubectl(['delete', 'resourcequota', 'full', `-n=${namespace}`])
  await release.poolsReady()
})
