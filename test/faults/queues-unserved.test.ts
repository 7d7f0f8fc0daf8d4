import t from 'tap'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import { editPool } from './world/by-hand.ts'
import { runUntil } from './world/run.ts'
import { conditionOf, sizeOf } from './world/view.ts'
import { createWorld, type World } from './world/world.ts'

prepareForWorlds(t)
/** The worlds' proxied wait of 120 s, and the ledger's interval between checks. */
const waitMs = 125_000

const setPaused = (world: World, paused: boolean) => editPool(world, 'standard', { paused })
const failedIn = (world: World) => [...world.ledger.rows.values()].filter(({ isFailed }) => isFailed).length

const toZero = { minReplicas: 0, cooldownSeconds: 10 }
const scaleDown = { stabilizationWindowSeconds: 4 }

t.test('queues unserved: captures of a queue that no pool serves fail after the proxied wait', async (t) => {
  using world = createWorld({ seed: 1, pools: { standard: { pool: 'standard' } } })
  await runUntil(world, 30_000)
  for (let sent = 0; sent < 3; sent += 1) world.ledger.accept('stealth')
  world.ledger.accept('standard')
  await runUntil(world, 30_000 + waitMs)
  t.equal(failedIn(world), 3)
  t.equal(world.ledger.open().length, 0, 'captures of the other queue are served')
})

t.test(
  'queues unserved: captures of a paused pool without workers fail after the proxied wait; not after it resumes',
  async (t) => {
    using world = createWorld({ seed: 2, pools: { standard: { pool: 'standard', autoscaling: toZero, scaleDown } } })
    await runUntil(world, 30_000)
    t.equal(sizeOf(world, 'standard'), 0)
    setPaused(world, true)
    await runUntil(world, 31_000)
    world.ledger.accept('standard')
    await runUntil(world, 32_000)
    t.match(conditionOf(world, 'standard', 'Ready'), { status: 'False', reason: 'WorkersMissing' })
    await runUntil(world, 32_000 + waitMs)
    t.equal(failedIn(world), 1)
    world.ledger.accept('standard')
    setPaused(world, false)
    await runUntil(world, 62_000 + waitMs)
    t.equal(failedIn(world), 1)
    t.equal(world.ledger.open().length, 0)
  },
)

t.test('queues unserved: a paused pool with workers keeps serving', async (t) => {
  using world = createWorld({ seed: 3, pools: { standard: { pool: 'standard' } } })
  await runUntil(world, 30_000)
  setPaused(world, true)
  await runUntil(world, 30_000 + 2 * waitMs, () => {
    if (world.ledger.open().length < 4) world.ledger.accept('standard')
  })
  t.equal(failedIn(world), 0)
})
