import t, { type Test } from 'tap'
import { captureLabel } from '#shared/kube/names.ts'
import { poolStateCodec, type PoolStateMessage } from '#shared/queue/messages.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'
import { at } from '#test/helpers/model-api/object.ts'
import { holds } from '#test/helpers/model-api/pods.ts'
import { poisson, seededRandom } from '#cli/simulation/random.ts'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import { namespace, pickOf, podsOf, targetOf } from './world/by-hand.ts'
import { createdJobsForgotten, type MissingGuard, servingNotCounted } from './world/missing-guards.ts'
import type { Interceptors } from './world/interceptors.ts'
import { runUntil } from './world/run.ts'
import { createWorld, type World } from './world/world.ts'

prepareForWorlds(t)

const seeds = [1, 2, 3, 4, 5]
const warmMs = 25_000
const usual = { max: 10, spares: 0, spareSeconds: 600, ttlSecondsAfterFinished: 600 }

type Start = { readonly seed: number; readonly jobs?: Partial<typeof usual>; readonly interceptors?: Interceptors }

/** Starts a world whose only pool runs Jobs, and waits until it has a leader. */
const start = async ({ seed, jobs = {}, interceptors = {} }: Start) => {
  const pools = { proxied: { pool: 'proxied', jobs: { ...usual, ...jobs } } } as const
  const world = createWorld({ seed, pools, interceptors })
  const states: PoolStateMessage[] = []
  world.bus.subscribe(poolStateSubject('proxied'), ({ data }) => states.push(poolStateCodec.decode(data)))
  await runUntil(world, warmMs)
  return { world, states }
}

const accept = ({ ledger }: World, captures: number) => {
  for (let count = 0; count < captures; count += 1) ledger.accept('proxied')
}

/** Ends a world and asserts that each capture was served once, and that there was no excess Job at any time. */
const end = (t: Test, world: World, seed: number) => {
  world.audit.close()
  t.strictSame(world.audit.damages, [], `seed ${seed}`)
  world[Symbol.dispose]()
}

/** Writes of Jobs: creations with this response, and claims. */
const creations = ({ model }: World, code = 201) =>
  model.writes.filter((write) => write.method === 'POST' && write.path.endsWith('/jobs') && write.code === code)
const claims = ({ model }: World) =>
  model.writes.filter(({ path, text, code }) => path.includes('/jobs/') && text.includes(captureLabel) && code === 200)

t.test('Jobs: each of 60 captures gets its own Job, 10 at a time, and its claim is written once', async (t) => {
  for (const seed of seeds) {
    const { world, states } = await start({ seed })
    accept(world, 60)
    await runUntil(world, warmMs + 120_000)
    t.equal(creations(world).length, 60)
    t.equal(claims(world).length, 60)
    t.ok(states.every(({ canStart }) => canStart))
    end(t, world, seed)
  }
})

t.test('Jobs: spares are kept on top of the Jobs that captures need', async (t) => {
  for (const seed of seeds) {
    const { world } = await start({ seed, jobs: { max: 50, spares: 3 } })
    const arrivals = poisson(seededRandom(seed), { fromMs: warmMs, toMs: warmMs + 20_000, perSecond: 3 })
    await runUntil(world, warmMs + 60_000, () => {
      while ((arrivals[world.ledger.rows.size] ?? Infinity) <= world.clock.nowMs()) accept(world, 1)
    })
    t.equal(creations(world).length, arrivals.length + 3)
    end(t, world, seed)
  }
})

t.test('Jobs: expired spares are replaced', async (t) => {
  for (const seed of seeds) {
    const { world } = await start({ seed, jobs: { spares: 2, spareSeconds: 30 } })
    await runUntil(world, warmMs + 150_000)
    t.ok(creations(world).length > 6)
    end(t, world, seed)
  }
})

t.test('Jobs: how long none could start is published without interruption, until one can', async (t) => {
  for (const seed of seeds) {
    const { world, states } = await start({ seed })
    world.troubles.set('proxied', 'ImagePullBackOff')
    accept(world, 60)
    await runUntil(world, warmMs + 60_000)
    world.troubles.clear()
    await runUntil(world, warmMs + 150_000)
    const stuck = states.filter(({ canStart }) => !canStart)
    t.ok(stuck.every(({ reason }) => reason === 'image-pull'))
    const durations = stuck.map(({ forMs }) => forMs)
    t.ok((durations.at(-1) ?? 0) > 50_000)
    t.strictSame(
      durations,
      durations.toSorted((one, other) => one - other),
    )
    t.equal(states.at(-1)?.canStart, true)
    end(t, world, seed)
  }
})

t.test('Jobs: a creation that a quota rejects is retried, at increasing intervals', async (t) => {
  for (const seed of seeds) {
    const { world, states } = await start({ seed })
    const { server } = world.model
    const hard = { 'count/jobs.batch': '4' }
    server.create(server.kind('v1/resourcequotas'), namespace, { metadata: { name: 'small' }, spec: { hard } })
    accept(world, 60)
    await runUntil(world, warmMs + 40_000)
    server.remove(targetOf(world, 'v1/resourcequotas', 'small'))
    await runUntil(world, warmMs + 160_000)
    const refused = new Set(creations(world, 403).map(({ sentAtMs }) => Math.round(sentAtMs / 1000)))
    t.ok(refused.size > 2 && refused.size < 15, `rejected in ${refused.size} of 40 seconds`)
    t.ok(states.some(({ reason }) => reason === 'quota'))
    end(t, world, seed)
  }
})

t.test('Jobs: captures survive dying workers, lost messages and requests, and killed leaders', async (t) => {
  for (const seed of seeds) {
    const random = seededRandom(seed)
    const queue: Interceptors['queue'] = (real) => ({
      ...real,
      subscribe: (filter, take) => real.subscribe(filter, (message) => void (random() < 0.95 && take(message))),
    })
    const { world } = await start({ seed, interceptors: { queue } })
    accept(world, 60)
    for (const ms of [3000, 9000, 60_000]) {
      for (const { client } of world.replicas) Object.assign(client.line, { lost: 0.1, lostAnswers: 0.1 })
      await runUntil(world, warmMs + ms, () => {
        const pod = random() < 0.1 ? pickOf(random, podsOf(world)) : undefined
        if (pod) world.model.server.remove(targetOf(world, 'v1/pods', pod.metadata.name), { graceSeconds: 0 })
      })
      world.leader()?.kill()
      world.addReplica()
    }
    await runUntil(world, warmMs + 250_000)
    end(t, world, seed)
  }
})

/** Moments before the worker of a pod starts, which takes at least a second: whether it has a node, and the time since. */
const unstarted = {
  'it had a node': { isBound: false, afterMs: 0 },
  'its node saw it': { isBound: true, afterMs: 0 },
  'its worker started': { isBound: true, afterMs: 500 },
}

for (const [moment, { isBound, afterMs }] of Object.entries(unstarted)) {
  t.test(`Jobs: no capture waits for a Job whose pod was deleted before ${moment}`, async (t) => {
    for (const seed of seeds) {
      const { world } = await start({ seed })
      accept(world, 2)
      const chosen = () => podsOf(world).find((pod) => (at(pod, 'spec', 'nodeName') !== undefined) === isBound)
      for (let ms = 0; ms < 10_000 && !chosen(); ms += 1) await world.clock.advance(1)
      const name = chosen()?.metadata.name ?? ''
      await world.clock.advance(afterMs)
      world.model.server.remove(targetOf(world, 'v1/pods', name), { graceSeconds: 0 })
      await runUntil(world, warmMs + 60_000)
      t.equal(world.model.server.store.all('batch/v1/jobs').filter((job) => holds(job, 'Complete')).length, 2)
      end(t, world, seed)
    }
  })
}

/** Whether some seed shows more Jobs than captures need: 60 captures arrive, and the leader is replaced soon after. */
const hasExcess = async (guard?: MissingGuard): Promise<boolean> => {
  using _taken = guard?.take?.()
  for (const seed of seeds) {
    const { world } = await start({ seed, interceptors: guard?.interceptors ?? {} })
    for (const { client } of world.replicas) client.line.delayMs = () => 2 + world.random() * 150
    accept(world, 60)
    await world.clock.advance(60 + 20 * seed)
    const leader = world.leader()
    void leader?.stop().then(leader.kill)
    await runUntil(world, warmMs + 60_000)
    world[Symbol.dispose]()
    if (world.audit.damages.some(({ what }) => what === 'too-many-jobs')) return true
  }
  return false
}

t.test('Jobs: none is in excess when the leader changes while they are created', async (t) => {
  t.notOk(await hasExcess())
})

for (const guard of [createdJobsForgotten, servingNotCounted]) {
  t.test(`planted fault: too many Jobs when ${guard.name}`, async (t) => {
    t.ok(await hasExcess(guard))
  })
}
