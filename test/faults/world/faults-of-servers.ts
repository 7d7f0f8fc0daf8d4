import type { StoreSnapshot } from '#test/helpers/model-api/store.ts'
import { pickOf, type Random, seconds } from './by-hand.ts'
import type { Replica } from './replica.ts'
import type { Fault } from './run.ts'

const usualDelayMs = (random: Random) => () => 1 + random() * 9

const setLine = ({ client }: Replica, line: Partial<Replica['client']['line']>) => Object.assign(client.line, line)

/** Nobody reaches the API server. */
export const away: Fault = {
  name: 'the API server is away for five minutes',
  lastsMs: () => 300_000,
  begin: ({ model }) => model.setAway(true),
  end: ({ model }) => model.setAway(false),
}

/** It answers late, says no, forgets. */
export const slow: Fault = {
  name: 'the API server is slow, refuses, and loses requests and answers',
  lastsMs: seconds(40, 90),
  begin: ({ replicas }, random) => {
    // There and back takes longer than controllers wait; what they sent arrives before they give it up.
    const delayMs = () => random() ** 3 * 2500
    for (const replica of replicas) setLine(replica, { delayMs, lost: 0.05, lostAnswers: 0.1, tooMany: 0.1 })
  },
  tick: ({ replicas }, random) => {
    for (const { client } of replicas) if (random() < 0.1) client.reset()
  },
  end: ({ replicas }, random) => {
    for (const replica of replicas)
      setLine(replica, { delayMs: usualDelayMs(random), lost: 0, lostAnswers: 0, tooMany: 0 })
  },
}

/** Everybody has seen what it does not know any more. */
export const createOlderState = (): Fault => {
  let then: StoreSnapshot | undefined
  return {
    name: 'the API server starts again from an older state',
    lastsMs: seconds(8, 40),
    begin: ({ model }) => {
      then = model.snapshot()
    },
    end: (world, random) => {
      const { model, audit, clock } = world
      model.setAway(true)
      audit.countsJobs = false
      clock.after(2000 + random() * 8000, () => {
        model.restart(then)
        model.setAway(false)
        audit.reread()
      })
    },
  }
}

/** Another leads meanwhile. */
export const createFrozenLeader = (): Fault => {
  let frozen: Replica | undefined
  return {
    name: 'the leader stands still for longer than its lease, and goes on',
    lastsMs: seconds(16, 50),
    begin: (world) => {
      frozen = world.leader()
      frozen?.process.freeze()
    },
    end: () => frozen?.process.thaw(),
  }
}

/** It thinks that it leads for as long as it may. */
export const cutOffLeader: Fault = {
  name: 'the leader alone is cut off from the API server',
  lastsMs: seconds(12, 60),
  begin: (world, random) => world.leader()?.client.setState(random() < 0.5 ? 'silent' : 'refused'),
  end: ({ replicas }) => {
    for (const { client } of replicas) client.setState('open')
  },
}

/** They come and go, in order and without. */
export const manyControllers: Fault = {
  name: 'controllers are killed, stopped and started',
  lastsMs: seconds(60, 100),
  begin: (world) => {
    world.addReplica()
  },
  tick: (world, random) => {
    if (random() > 0.08) return
    const running = world.replicas.filter(({ process }) => process.isAlive())
    const replica = random() < 0.7 ? world.leader() : pickOf(random, running)
    if (!replica || running.length < 2) return
    if (random() < 0.5) replica.kill()
    else void replica.stop().then(replica.kill)
    world.addReplica()
  },
}

/** Their calendars and their speed differ. */
export const skewed: Fault = {
  name: 'the clocks of the controllers are off',
  clocks: (random) => [0, 1].map(() => ({ dateAheadMs: (random() - 0.5) * 7_200_000, rate: 0.95 + random() * 0.1 })),
  lastsMs: seconds(40, 70),
  begin: (world) => world.leader()?.kill(),
  end: (world, random) => void world.addReplica({ dateAheadMs: (random() - 0.5) * 86_400_000 }),
}
