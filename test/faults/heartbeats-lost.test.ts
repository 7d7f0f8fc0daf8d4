import t from 'tap'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import type { Interceptors } from './world/interceptors.ts'
import { runUntil } from './world/run.ts'
import { createWorld } from './world/world.ts'

prepareForWorlds(t)

const pool = { pool: 'standard', autoscaling: { minReplicas: 6, maxReplicas: 6 } } as const
const warmMs = 40_000

type Loss = { readonly subjects: RegExp; readonly lastsMs: number }

/** Drops messages of these subjects on their way to the controllers; returns the workers before and after. */
const lose = async (seed: number, { subjects, lastsMs }: Loss) => {
  let isLosing = false
  const interceptors: Interceptors = {
    queue: (queue) => ({
      ...queue,
      subscribe: (filter, take) =>
        queue.subscribe(filter, (message) => (isLosing && subjects.test(message.subject) ? undefined : take(message))),
    }),
  }
  using world = createWorld({ seed, interceptors, pools: { standard: pool } })
  const load = () => {
    while (world.ledger.open().length < 12) world.ledger.accept('standard')
  }
  const pods = () => world.workers().map(({ spec }) => spec.pod)
  await runUntil(world, warmMs, load)
  const before = pods()
  isLosing = true
  await runUntil(world, warmMs + lastsMs, load)
  isLosing = false
  await runUntil(world, warmMs + lastsMs + 20_000, load)
  const after = pods()
  return { before, after, damages: world.audit.damages }
}

const losses: readonly (Loss & { readonly name: string })[] = [
  { name: 'the heartbeats of all workers are lost for 25 s', subjects: /\.beat$/, lastsMs: 25_000 },
  { name: 'nothing is received over NATS for a minute', subjects: /./, lastsMs: 60_000 },
]

for (const { name, ...loss } of losses) {
  t.test(`heartbeats lost: no worker is replaced when ${name}`, async (t) => {
    for (const seed of [1, 2, 3]) {
      const { before, after, damages } = await lose(seed, loss)
      t.equal(before.length, 6)
      t.strictSame(after, before, `seed ${seed}: the same workers serve`)
      t.strictSame(damages, [])
    }
  })
}
