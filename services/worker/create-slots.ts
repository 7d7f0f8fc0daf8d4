import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { checkEgress } from '#shared/net/check-egress.ts'
import type { BrowserUser } from './browser-host/protocol.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import type { Ground } from './ground.ts'
import { type Host, startHost } from './host-process.ts'
import { createSlot, type Slot } from './slot.ts'
import { warmUp } from './warm-up.ts'

/** Warms a host up; one that must not be used, or that nobody waits for any more, is ended. */
const warmed = async (host: Host, canary: Ground['canary'], stop: AbortSignal): Promise<Host> => {
  const end = () => host[Symbol.asyncDispose]()
  stop.addEventListener('abort', end)
  try {
    await warmUp(host, canary)
    return host
  } catch (error) {
    await end()
    throw error
  } finally {
    stop.removeEventListener('abort', end)
  }
}

/** Makes the worker's slots; their hosts are started when they are first asked for. */
export const createSlots = (
  { config, isolation, users, events }: { config: Config } & Pick<Context, 'isolation' | 'users' | 'events'>,
  ground: Pick<Ground, 'folder' | 'egressPath' | 'trust' | 'canary'>,
): readonly Slot[] => {
  const { egressPath } = ground
  const start = async (user: BrowserUser | undefined, stop: AbortSignal) => {
    await checkEgress({ socketPath: egressPath })
    const host = await startHost(
      {
        settings: {
          chromium: config.chromium,
          sandbox: !config.unsafeNoSandbox,
          ...(user && { user }),
          egressPath,
          ...(ground.trust && { trust: ground.trust }),
          recycleCaptures: config.recycleCaptures,
          recycleMs: config.recycleSeconds * 1000,
          heightMax: config.heightMax,
          bytesMax: config.captureBytesMax,
          connectionsMax: config.captureConnectionsMax,
        },
        isolation,
        memoryMax: config.browserMemoryMax,
        folder: join(ground.folder, `host-${randomUUID().slice(0, 8)}`),
      },
      stop,
    )
    return warmed(host, ground.canary, stop)
  }
  return Array.from({ length: config.slots }, (_, slot) =>
    createSlot((stop) => start(users?.bySlot[slot], stop), events),
  )
}
