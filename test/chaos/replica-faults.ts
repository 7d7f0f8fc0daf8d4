import { manage } from '#shared/queue/stored.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { connectToNats } from './connect-to-nats.ts'
import type { Fault } from './fault.ts'
import type { PostgresPair } from './postgres-pair.ts'
import type { World } from './world.ts'

const worlds = ['replicated'] as const

const replicasOf = ({ replicas }: World) => {
  if (!replicas) throw new Error('this world has no replicas')
  return replicas
}

/** How long a fault of the replica waits for its use. */
const startMs = 8000

/** Longer than an election. */
const electionMs = 30_000

/** Name of the server that leads the stream of captures, once it has a leader. */
const findLeader = async (world: World): Promise<string> => {
  let leader: string | undefined
  const isKnown = async () => {
    await using queue = await connectToNats(world)
    const { streams } = await manage(queue)
    leader = (await streams.info(capturesStream.name)).cluster?.leader
    return leader !== undefined
  }
  await eventually(isKnown, { withinMs: electionMs, what: 'the stream of captures has a leader' })
  return leader!
}

/** Longer than any other fault lasts beside it, and than a gateway takes to try the replica again. */
const usedMs = 60_000

/** Waits until the gateway reads from the replica. */
export const awaitReplicaReads = (world: World, withinMs = usedMs): Promise<void> =>
  eventually(async () => /^shutterfleet_replica_used(\{.*\})? 1$/m.test(await world.system.metrics('gateway')), {
    withinMs,
    what: 'the gateway reads from the replica',
  })

/** What a fault does to the replica that the gateway reads from, and its end; afterwards the gateway must use the replica again. */
const disturbPair = (
  durationsMs: readonly number[],
  [begin, ...end]: readonly (keyof Omit<PostgresPair, 'host' | 'replicaHost' | symbol>)[],
): Fault => ({
  worlds,
  durationsMs,
  begin: async (world) => {
    const { postgres } = replicasOf(world)
    // Another fault may keep the gateway from it.
    await awaitReplicaReads(world, startMs).catch(() => {})
    if (begin) await postgres[begin]()
    return async () => {
      for (const step of end) await postgres[step]()
      await awaitReplicaReads(world)
    }
  },
})

/**
 * Kills PostgreSQL and promotes its replica, which has all that was committed, and has not applied it since the fault began; then builds
 * another replica.
 */
export const failOver = disturbPair([0, 2000], ['pauseReplay', 'promote', 'addReplica'])

/** Faults of the replica. While it is killed or frozen no commit is confirmed. */
export const replicaFaults: Readonly<Record<string, Fault>> = {
  'pause the postgres replica': disturbPair([3000, 8000], ['pauseReplay', 'resumeReplay']),
  'kill the postgres replica': disturbPair([1000, 6000], ['killReplica', 'startReplica']),
  'freeze the postgres replica': disturbPair([2000, 12_000], ['freezeReplica', 'thawReplica']),
}

/** Kills, freezes or wipes the server that leads the stream of captures. */
export const disturbNatsServer = (what: 'kill' | 'freeze' | 'wipe'): Fault => ({
  worlds,
  durationsMs: what === 'freeze' ? [2000, 12_000] : [0],
  begin: async (world) => {
    const server = replicasOf(world).nats.get(await findLeader(world))
    if (!server) throw new Error('the stream has no leader')
    if (what === 'kill') await server.restart()
    if (what === 'wipe') await server.wipe()
    if (what === 'freeze') process.kill(server.pid, 'SIGSTOP')
    return async () => {
      if (what === 'freeze') process.kill(server.pid, 'SIGCONT')
    }
  },
})
