import t from 'tap'
import { holds } from '#test/helpers/model-api/pods.ts'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import { editPool, podsOf, targetOf, tryOut } from './world/by-hand.ts'
import { runUntil } from './world/run.ts'
import { conditionOf, readyWorkers, sizeOf } from './world/view.ts'
import { createWorld, type World } from './world/world.ts'

prepareForWorlds(t)

const pool = {
  pool: 'standard',
  autoscaling: { minReplicas: 1, maxReplicas: 20 },
  scaleDown: { stabilizationWindowSeconds: 4, periodSeconds: 1 },
} as const

/** A world whose pool was scaled up to 20 workers. */
const grown = async (seed: number): Promise<World> => {
  const world = createWorld({ seed, pools: { standard: pool } })
  await runUntil(world, 60_000, () => {
    while (world.ledger.open().length < 30) world.ledger.accept('standard')
  })
  return world
}

const usually = (world: World) => () => {
  if (world.random() < 0.1) world.ledger.accept('standard')
}

t.test('scale down in churn: a pool scales down although some workers are always starting', async (t) => {
  for (const seed of [1, 2, 3, 4]) {
    using world = await grown(seed)
    t.ok(sizeOf(world, 'standard') >= 18)
    const load = usually(world)
    let calmLooks = 0
    await runUntil(world, 130_000, () => {
      load()
      // Stop counting in a small pool.
      if (sizeOf(world, 'standard') <= 6) return
      const coming = podsOf(world).filter((pod) => !holds(pod, 'Ready')).length
      calmLooks += Number(coming === 0)
      // Spot nodes are reclaimed: only those of idle workers, so that a busy one is ended by the controller alone.
      const idle = world
        .workers()
        .find(({ lifecycle }) => lifecycle.state() === 'ready' && lifecycle.captures().length === 0)
      if (coming > 2 || !idle) return
      tryOut(world, () => world.model.server.remove(targetOf(world, 'v1/pods', idle.spec.pod), { graceSeconds: 0 }))
    })
    t.ok(calmLooks <= 12, `seed ${seed}: no worker was starting in ${calmLooks} samples`)
    t.ok(sizeOf(world, 'standard') <= 6, `seed ${seed}: ${sizeOf(world, 'standard')} workers are left`)
    await runUntil(world, 200_000)
    t.strictSame(world.audit.damages, [])
    t.equal(world.ledger.open().length, 0, 'all captures end')
  }
})

t.test('scale down in churn: a hanging rollout does not prevent a scale-down', async (t) => {
  for (const seed of [1, 2, 3, 4]) {
    using world = await grown(seed)
    world.troubles.set('standard', 'ImagePullBackOff')
    editPool(world, 'standard', { template: { image: 'worker:missing' } })
    const load = usually(world)
    let least = 20
    await runUntil(world, 150_000, () => {
      load()
      least = Math.min(least, sizeOf(world, 'standard'))
    })
    t.ok(least <= 5, `seed ${seed}: scaled down to ${least} workers`)
    t.ok(readyWorkers(world) >= 1, 'one worker is ready')
    t.match(conditionOf(world, 'standard', 'Degraded'), { status: 'True', reason: 'ImagePull' })
    world.troubles.clear()
    await runUntil(world, 240_000)
    t.equal(world.ledger.open().length, 0, 'all captures end')
    t.strictSame(world.audit.damages, [])
  }
})
