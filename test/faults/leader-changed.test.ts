import t from 'tap'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import { editPool } from './world/by-hand.ts'
import { runUntil } from './world/run.ts'
import { conditionOf, readyWorkers } from './world/view.ts'
import { createWorld, type World } from './world/world.ts'

prepareForWorlds(t)

const fixed = {
  pool: 'standard',
  autoscaling: { enabled: false },
  replicas: 12,
  scaleDown: { stabilizationWindowSeconds: 4, periodSeconds: 1 },
} as const
const warmMs = 40_000

const warm = async (seed: number): Promise<World> => {
  const world = createWorld({ seed, pools: { standard: fixed } })
  await runUntil(world, warmMs)
  return world
}

t.test('leader changed: a pool stays Ready when a newly started controller becomes leader immediately', async (t) => {
  for (const seed of [1, 2, 3]) {
    using world = await warm(seed)
    t.equal(conditionOf(world, 'standard', 'Ready')?.status, 'True')
    for (const replica of world.replicas) void replica.stop().then(replica.kill)
    await runUntil(world, warmMs + 2000)
    world.addReplica()
    const seen = new Set<string | undefined>()
    await runUntil(world, warmMs + 30_000, () => seen.add(conditionOf(world, 'standard', 'Ready')?.status))
    t.equal(world.leader()?.process.name, 'controller-3', `seed ${seed}: the new one leads`)
    t.strictSame([...seen], ['True'], `seed ${seed}: Ready`)
    t.strictSame(world.audit.damages, [])
  }
})

t.test('leader changed: a leader that was frozen during a scale-down drains no worker after its term', async (t) => {
  // Frozen right after a step of the scale-down, it would have nothing to publish: the moments are half a step apart.
  for (const [seed, afterMs] of [
    [1, 1000],
    [2, 1500],
    [3, 2000],
  ] as const) {
    using world = await warm(seed)
    const frozen = world.leader()
    editPool(world, 'standard', { replicas: 2 })
    await runUntil(world, warmMs + afterMs)
    t.ok(readyWorkers(world) > 2, 'the scale-down is not complete')
    frozen?.process.freeze()
    while (world.leader() === frozen && world.clock.nowMs() < warmMs + 30_000) await world.clock.advance(500)
    t.not(world.leader(), frozen, 'another controller leads')
    t.ok(readyWorkers(world) > 2, 'the new leader has not drained the rest yet')
    frozen?.process.thaw()
    await runUntil(world, warmMs + 80_000)
    t.equal(readyWorkers(world), 2)
    t.strictSame(world.audit.damages, [])
  }
})
