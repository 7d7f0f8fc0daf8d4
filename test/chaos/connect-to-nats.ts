import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { eventually } from '#test/helpers/eventually.ts'
import type { World } from './world.ts'

/** Longer than any other fault makes NATS unreachable. */
const withinMs = 60_000

/** Connects to the NATS of a world through its proxy, once it is reachable. */
export const connectToNats = async ({ system }: Pick<World, 'system'>): Promise<Queue> => {
  const { nats_url: url } = await system.readLocal()
  let queue: Queue | undefined
  const isConnected = async () => {
    queue = await connectQueue({ url, name: 'chaos', inboxPrefix: '_INBOX.chaos', notice: () => {} })
    return true
  }
  await eventually(isConnected, { withinMs, what: 'NATS is reachable' })
  return queue!
}
