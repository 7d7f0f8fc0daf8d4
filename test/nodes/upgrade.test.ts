import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { eventually } from '#test/helpers/eventually.ts'
import { readApi } from '#test/helpers/nodes/read-api.ts'
import { cluster, outside, release, standardPool, until } from '#test/helpers/nodes/running-release.ts'
import { captureSteadily } from '#test/helpers/nodes/steady-captures.ts'
import { untilWorkersAre } from '#test/helpers/nodes/workers.ts'

type Definition = {
  readonly spec: {
    readonly versions: readonly [
      {
        readonly schema: {
          readonly openAPIV3Schema: { readonly properties: { readonly spec: { properties: object } } }
        }
      },
    ]
  }
}
type Pool = {
  readonly metadata: { readonly generation: number }
  readonly spec: object
  readonly status?: { readonly conditions?: readonly { type: string; status: string; observedGeneration: number }[] }
}

/** A field of each worker's pod, with a default. */
const newerField = 'terminationGracePeriodSeconds'
const { kubectl } = cluster
const namespace = release.workersNamespace
// Not awaited: a module with top-level await would run after the modules imported after it.
const newer = parse(
  readFileSync(resolve(import.meta.dirname, '../../crds/browserpools.shutterfleet.dev.yaml'), 'utf8'),
) as Definition
const older = structuredClone(newer)
const { spec: olderSpec } = older.spec.versions[0].schema.openAPIV3Schema.properties
olderSpec.properties = Object.fromEntries(Object.entries(olderSpec.properties).filter(([name]) => name !== newerField))

const readPool = async () => {
  const path = `/apis/shutterfleet.dev/v1beta1/namespaces/${namespace}/browserpools/standard`
  const found = await readApi<Pool>(cluster.place, path)
  if (!found) throw new Error('the release has no pool')
  return found
}
const isNewer = async () => newerField in (await readPool()).spec
/** Applies a definition of pools, and resolves once the API serves it. */
const define = async (wanted: Definition) => {
  await kubectl(['replace', '-f', '-'], JSON.stringify(wanted))
  await eventually(async () => (await isNewer()) === (wanted === newer), { what: 'the definition is served' })
}
/** Changes the pool, and resolves once its condition Ready is True for the new generation. */
const untilSeen = async () => {
  const queueWaitMs = 2000 + (await readPool()).metadata.generation
  const change = `--patch=${JSON.stringify({ spec: { autoscaling: { queueWaitMs } } })}`
  await kubectl(['patch', 'bp', 'standard', `-n=${namespace}`, '--type=merge', change])
  const isReady = async () => {
    const { metadata, status } = await readPool()
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    return ready?.status === 'True' && ready.observedGeneration === metadata.generation
  }
  await eventually(isReady, { withinMs: 120_000, what: 'the pool is Ready in its new generation' })
}
const listNames = async () => {
  const workers = await until((all) => all.every(({ isReady, isEnding }) => isReady && !isEnding))
  return workers.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b))
}
const gateways = async () =>
  kubectl(['get', 'pods', `-n=${release.namespace}`, '-l=app.kubernetes.io/component=gateway', '-o=name'])

t.test('upgrade: under a load of five captures a second replaces all pods without losing a capture', async (t) => {
  await define(older)
  const before = await gateways()
  const captures = captureSteadily(release, outside)
  await captures.more(10)
  await release.deploy('upgrade', {
    pods: { annotations: { 'example.com/release': 'second' } },
    ...standardPool([2, 3], { colour: 'red' }),
  })
  await untilWorkersAre(cluster, release, 'red')
  await captures.more(10)
  const { count, failures } = await captures.finish()
  t.comment(`${count} captures`)
  t.strictSame(failures, [])
  for (const pod of (await gateways()).trim().split('\n')) t.notOk(before.includes(pod), pod)
  t.ok(await isNewer(), 'the release brings its definition of pools first')
})

t.test(
  'upgrade: a controller works with an older BrowserPool definition; the newer one changes no workers',
  async (t) => {
    await define(older)
    await release.deploy('upgrade', { crds: { upgrade: false }, ...standardPool([2, 2], { colour: 'green' }) })
    await untilWorkersAre(cluster, release, 'green')
    const workers = await listNames()
    t.notOk(await isNewer())

    await define(newer)
    await untilSeen()
    t.strictSame(await listNames(), workers)
  },
)
