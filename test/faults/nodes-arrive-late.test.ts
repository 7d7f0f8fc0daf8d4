import t from 'tap'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import { editPool } from './world/by-hand.ts'
import { runUntil } from './world/run.ts'
import { conditionOf, jobsOf, sizeOf } from './world/view.ts'
import { createWorld, type World } from './world/world.ts'

prepareForWorlds(t)
const seeds = [1, 2, 3]
const provisionMs = { least: 60_000, spread: 60_000 }

const burst = (world: World, pool: 'standard' | 'proxied', count: number) => {
  for (let sent = 0; sent < count; sent += 1) world.ledger.accept(pool)
}

/** The size after a backlog that grew during a pause, so that no arrival rate raises it. */
const sizeForBacklog = async (world: World, look: () => void): Promise<number> => {
  const setPaused = (paused: boolean) => editPool(world, 'standard', { paused })
  setPaused(true)
  burst(world, 'standard', 40)
  await runUntil(world, world.clock.nowMs() + 12_000, look)
  setPaused(false)
  await runUntil(world, world.clock.nowMs() + 3000, look)
  return sizeOf(world, 'standard')
}

const createObservedWorld = async (seed: number) => {
  const world = createWorld({
    seed,
    nodes: { zones: ['a'], room: 10, provisionMs },
    pools: {
      standard: {
        pool: 'standard',
        autoscaling: { minReplicas: 1, maxReplicas: 60 },
        scaleDown: { stabilizationWindowSeconds: 10, periodSeconds: 1 },
      },
    },
  })
  const degraded = new Set<string>()
  const look = () => {
    const condition = conditionOf(world, 'standard', 'Degraded')
    if (condition?.status === 'True') degraded.add(condition.reason)
  }
  return { world, degraded, look }
}

t.test(
  'nodes arrive late: pods that wait for a node count as starting capacity and not towards the start time',
  async (t) => {
    for (const seed of seeds) {
      const { world, degraded, look } = await createObservedWorld(seed)
      using _world = world
      await runUntil(world, 25_000, look)
      const first = await sizeForBacklog(world, look)
      t.ok(first >= 15, `seed ${seed}: ${first} workers are requested immediately`)
      // Load that needs nodes that are not provisioned yet.
      await runUntil(world, 260_000, () => {
        look()
        if (world.ledger.open('standard').length < 40) world.ledger.accept('standard')
      })
      await runUntil(world, 500_000, look)
      t.equal(sizeOf(world, 'standard'), 1, `seed ${seed}: scaled back to 1`)
      const later = await sizeForBacklog(world, look)
      // The measured service time differs slightly from the first time.
      t.ok(later >= 0.75 * first, `seed ${seed}: ${later} workers are requested, ${first} at first`)
      await runUntil(world, 600_000, look)
      t.strictSame([...degraded], [], `seed ${seed}: not Degraded while a node is provisioned`)
      t.equal(world.ledger.open().length, 0, `seed ${seed}: all captures end`)
    }
  },
)

t.test('nodes arrive late: each proxied capture gets its Job while nodes are provisioned', async (t) => {
  for (const seed of seeds) {
    using world = createWorld({
      seed,
      nodes: { zones: [], room: 30, provisionMs },
      pools: {
        proxied: { pool: 'proxied', jobs: { max: 100, spares: 0, spareSeconds: 60, ttlSecondsAfterFinished: 600 } },
      },
    })
    await runUntil(world, 25_000)
    await runUntil(world, 55_000, () => {
      if (world.ledger.rows.size < 91) burst(world, 'proxied', 2)
    })
    await runUntil(world, 58_000)
    t.equal(jobsOf(world).length, world.ledger.rows.size, `seed ${seed}: one Job per capture before any node is ready`)
    t.equal(conditionOf(world, 'proxied', 'Degraded')?.status, 'False')
    await runUntil(world, 400_000)
    t.equal(world.ledger.open().length, 0, `seed ${seed}: all captures end`)
    t.notOk([...world.ledger.rows.values()].some(({ isFailed }) => isFailed))
    t.strictSame(world.audit.damages, [], `seed ${seed}`)
  }
})

t.test('nodes arrive late: a pool with unschedulable pods is Degraded after the node provisioning time', async (t) => {
  using world = createWorld({ seed: 1, nodes: { zones: ['a'], room: 3 } })
  await runUntil(world, 25_000)
  const busy = () => {
    while (world.ledger.open('standard').length < 20) world.ledger.accept('standard')
  }
  await runUntil(world, 320_000, busy)
  t.equal(conditionOf(world, 'standard', 'Degraded')?.status, 'False')
  await runUntil(world, 345_000, busy)
  t.match(conditionOf(world, 'standard', 'Degraded'), { status: 'True', reason: 'Unschedulable' })
})
