import { manage } from '#shared/queue/stored.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { connectToNats } from './connect-to-nats.ts'
import type { Fault } from './fault.ts'
import type { World } from './world.ts'

const worlds = ['replicated'] as const

const replicasOf = ({ replicas }: World) => {
  if (!replicas) throw new Error('this world has no replicas')
  return replicas
}

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

/** Kills PostgreSQL and promotes its replica, which has all that was committed and has applied it up to two seconds before. */
export const failOver: Fault = {
  worlds,
  durationsMs: [0],
  begin: async (world) => {
    const { postgres } = replicasOf(world)
    await postgres.promote()
    return () => postgres.addReplica()
  },
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
