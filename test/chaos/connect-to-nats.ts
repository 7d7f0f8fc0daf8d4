import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import type { World } from './world.ts'

/** Connects to the NATS of a world through its proxy. */
export const connectToNats = async ({ system }: Pick<World, 'system'>): Promise<Queue> => {
  const { nats_url: url } = await system.readLocal()
  return connectQueue({ url, name: 'chaos', inboxPrefix: '_INBOX.chaos', notice: () => {} })
}
