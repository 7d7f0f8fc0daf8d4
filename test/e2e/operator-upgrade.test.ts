import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import t from 'tap'
import { workersName } from '#shared/kube/names.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'
import { startOperator } from '#test/helpers/operator-process.ts'

type Deployment = {
  readonly metadata: { readonly generation: number }
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } }
  }
  readonly status: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
  }
}

/** A definition in YAML without these fields, each with all that is indented below it. */
const withoutFields = (definition: string, names: readonly string[]) =>
  names.reduce((text, name) => text.replace(new RegExp(String.raw`^( +)${name}:\n(\1 +.*\n)+`, 'm'), ''), definition)

const startMs = 2000
const world = await startOperatorCluster(t, { startMs: () => startMs })
const { cluster, queue, applyPool, settles } = world
const pools = ['first', 'second', 'third']

/** The rollout state of each pool's Deployment: before, rolling or done. */
const statesOf = async (image: string) => {
  const all = await Promise.all(pools.map((name) => cluster.get<Deployment>('deployment', workersName(name))))
  return all.map(({ metadata, spec, status }) => {
    if (spec.template.spec.containers[0]?.image !== image) return 'before'
    const isSeen = status.observedGeneration === metadata.generation
    return isSeen && status.replicas === status.updatedReplicas ? 'done' : 'rolling'
  })
}

t.test(
  'operator upgrade: new controller settings roll out one pool at a time, changes of pools immediately',
  async (t) => {
    for (const name of pools) await applyPool(name, { autoscaling: { enabled: false }, replicas: 2 })
    for (const name of pools) await settles(name, 2)
    await world.operator.stop()
    await using newer = await startOperator({ cluster, queue, name: 'newer', settings: { POD_IMAGE: 'newer' } })
    const reported = new Set<string>()
    const isOver = async () => {
      const states = await statesOf('newer')
      reported.add(states.toSorted().join())
      return states.every((state) => state === 'done')
    }
    await eventually(isOver, { withinMs: 120_000, what: 'all pools use the new image' })
    for (const states of reported) t.ok(states.split(',').filter((state) => state === 'rolling').length <= 1, states)
    t.ok([...reported].some((states) => states.includes('before') && states.includes('rolling')))

    for (const name of pools) {
      await applyPool(name, { autoscaling: { enabled: false }, replicas: 2, template: { image: 'own' } })
    }
    await eventually(async () => (await statesOf('own')).every((state) => state === 'rolling'), {
      what: 'all pools roll at the same time',
    })
    for (const name of pools) await settles(name, 2)
    t.equal(newer.child.exitCode, null)
  },
)

t.test(
  'operator upgrade: with an older definition, missing fields have their defaults, and the status is written',
  async (t) => {
    await using newer = await startOperator({ cluster, queue, name: 'later', settings: { POD_IMAGE: 'newer' } })
    const file = resolve(import.meta.dirname, '../../crds/browserpools.shutterfleet.dev.yaml')
    const real = await readFile(file, 'utf8')
    await cluster.applyCrd(withoutFields(real, ['paused', 'scheduledMinReplicas']))
    await applyPool('under-older', { autoscaling: { enabled: false }, replicas: 1 })
    await settles('under-older', 1)
    t.notOk('paused' in (await world.poolOf('under-older')).spec)
    await applyPool('under-older', { autoscaling: { enabled: true } })
    await world.holds('under-older', 'ScalingActive', 'True AutoscalingOn')
    await cluster.applyCrd(real)
    t.equal(newer.child.exitCode, null)
  },
)
