import type { StoreSnapshot } from '#test/helpers/model-api/store.ts'
import { pickOf, type Random, seconds } from './by-hand.ts'
import type { Replica } from './replica.ts'
import type { Fault } from './run.ts'

const usualDelayMs = (random: Random) => () => 1 + random() * 9

const setLine = ({ client }: Replica, line: Partial<Replica['client']['line']>) => Object.assign(client.line, line)

/** The API server is unreachable for all clients. */
export const away: Fault = {
  name: 'the API server is away for five minutes',
  lastsMs: () => 300_000,
  begin: ({ model }) => model.setAway(true),
  end: ({ model }) => model.setAway(false),
}

/** The API server is slow, rejects requests, and loses requests and responses. */
export const slow: Fault = {
  name: 'the API server is slow, refuses, and loses requests and answers',
  lastsMs: seconds(40, 90),
  begin: ({ replicas }, random) => {
    // A round trip may exceed the controllers' timeout, one way does not: requests arrive before they time out.
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

/** The API server is restored to a state that is older than what its clients have observed. */
export const createOlderState = (): Fault => {
  let then: StoreSnapshot | undefined
  return {
    name: 'the API server is restored to an older state',
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

/** The leader is frozen for longer than its lease; another replica becomes leader. */
export const createFrozenLeader = (): Fault => {
  let frozen: Replica | undefined
  return {
    name: 'the leader is frozen for longer than its lease and resumes',
    lastsMs: seconds(16, 50),
    begin: (world) => {
      frozen = world.leader()
      frozen?.process.freeze()
    },
    end: () => frozen?.process.thaw(),
  }
}

/** Only the leader is partitioned from the API server; it considers itself leader until its term ends. */
export const cutOffLeader: Fault = {
  name: 'only the leader is partitioned from the API server',
  lastsMs: seconds(12, 60),
  begin: (world, random) => world.leader()?.client.setState(random() < 0.5 ? 'silent' : 'refused'),
  end: ({ replicas }) => {
    for (const { client } of replicas) client.setState('open')
  },
}

/** Controllers are started, stopped gracefully, and killed. */
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

/** The controllers' clocks differ in date and rate. */
export const skewed: Fault = {
  name: 'the clocks of the controllers are skewed',
  clocks: (random) => [0, 1].map(() => ({ dateAheadMs: (random() - 0.5) * 7_200_000, rate: 0.95 + random() * 0.1 })),
  lastsMs: seconds(40, 70),
  begin: (world) => world.leader()?.kill(),
  end: (world, random) => void world.addReplica({ dateAheadMs: (random() - 0.5) * 86_400_000 }),
}
