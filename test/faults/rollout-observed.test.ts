import t from 'tap'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import { editPool, podsOf } from './world/by-hand.ts'
import { at } from '#test/helpers/model-api/object.ts'
import { runUntil } from './world/run.ts'
import { conditionOf, poolOf } from './world/view.ts'
import { createWorld, type World } from './world/world.ts'

prepareForWorlds(t)

const pools = { standard: { pool: 'standard', autoscaling: { minReplicas: 4, maxReplicas: 4 } } } as const

const setImage = (world: World, image: string) => editPool(world, 'standard', { template: { image } })
const imagesOf = (world: World) =>
  new Set(podsOf(world).map((pod) => (at(pod, 'spec', 'containers') as { image: string }[])[0]?.image))

/** The pool's status by the rules of kstatus, which Helm and Flux wait for. */
const kstatusOf = (world: World): string => {
  const { metadata, status } = poolOf(world, 'standard')
  if (status?.observedGeneration !== metadata.generation) return 'InProgress'
  if (conditionOf(world, 'standard', 'Stalled')?.status === 'True') return 'Failed'
  if (conditionOf(world, 'standard', 'Reconciling')?.status === 'True') return 'InProgress'
  return conditionOf(world, 'standard', 'Ready')?.status === 'True' ? 'Current' : 'InProgress'
}

t.test(
  'rollout observed: a pool is not Ready from a change of its template until all workers use the new one',
  async (t) => {
    for (const seed of [1, 2, 3]) {
      // A busy Deployment controller, which observes changes 1.5 s late.
      using world = createWorld({ seed, pools, lagMs: () => 1500 })
      await runUntil(world, 60_000)
      t.equal(kstatusOf(world), 'Current')
      setImage(world, 'worker:2')
      const early: number[] = []
      for (let look = 0; look < 400; look += 1) {
        await world.clock.advance(50)
        if (kstatusOf(world) === 'Current' && (imagesOf(world).size > 1 || !imagesOf(world).has('worker:2')))
          early.push(world.clock.nowMs())
      }
      t.strictSame(early, [], `seed ${seed}`)
      await runUntil(world, 180_000)
      t.equal(kstatusOf(world), 'Current')
      t.strictSame([...imagesOf(world)], ['worker:2'])
    }
  },
)

t.test(
  'rollout observed: a pool whose new image cannot be pulled is InProgress, then Failed, and never Current',
  async (t) => {
    using world = createWorld({ seed: 1, pools })
    await runUntil(world, 30_000)
    world.troubles.set('standard', 'ImagePullBackOff')
    setImage(world, 'worker:missing')
    const shown = new Set<string>()
    await runUntil(world, 30_500)
    await runUntil(world, 600_000, () => shown.add(kstatusOf(world)))
    t.strictSame([...shown], ['InProgress'])
    await runUntil(world, 680_000)
    t.equal(kstatusOf(world), 'Failed')
    t.match(conditionOf(world, 'standard', 'Ready'), { status: 'False', reason: 'RolloutFailed' })
    world.troubles.clear()
    setImage(world, 'worker:3')
    await runUntil(world, 760_000)
    t.equal(kstatusOf(world), 'Current')
  },
)

t.test('rollout observed: a change of the size alone does not make a pool unready', async (t) => {
  using world = createWorld({ seed: 2 })
  await runUntil(world, 30_000)
  const unready: number[] = []
  await runUntil(world, 90_000, () => {
    if (world.clock.nowMs() < 45_000) world.ledger.accept('standard')
    if (kstatusOf(world) !== 'Current') unready.push(world.clock.nowMs())
  })
  t.strictSame(unready, [])
})
