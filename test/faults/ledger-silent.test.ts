import t from 'tap'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import { runUntil } from './world/run.ts'
import { sizeOf } from './world/view.ts'
import { createWorld } from './world/world.ts'

prepareForWorlds(t)

const pool = {
  pool: 'standard',
  autoscaling: { minReplicas: 0, cooldownSeconds: 10, maxReplicas: 20, slots: 2 },
  scaleDown: { stabilizationWindowSeconds: 4, periodSeconds: 1 },
} as const

t.test("ledger silent: without the ledger's backlog JetStream's depth scales a pool up and never down", async (t) => {
  for (const seed of [1, 2, 3]) {
    using world = createWorld({ seed, pools: { standard: pool } })
    await runUntil(world, 30_000)
    t.equal(sizeOf(world, 'standard'), 0, 'initially there is no worker')
    world.ledger.isAway = true
    await runUntil(world, 40_000)
    for (let sent = 0; sent < 200; sent += 1) world.ledger.accept('standard')
    await runUntil(world, 45_000)
    const raised = sizeOf(world, 'standard')
    t.ok(raised >= 10, `seed ${seed}: ${raised} workers for 200 captures`)
    let least = raised
    await runUntil(world, 180_000, () => {
      least = Math.min(least, sizeOf(world, 'standard'))
    })
    t.equal(least, raised, 'no scale-down without the backlog of the ledger')
    t.equal(world.ledger.open().length, 0, 'all captures end')
    world.ledger.isAway = false
    await runUntil(world, 240_000)
    t.equal(sizeOf(world, 'standard'), 0, 'scaled to 0 after the ledger is back')
    t.strictSame(world.audit.damages, [])
  }
})
