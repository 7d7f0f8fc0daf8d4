import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { checkEgress } from '#shared/net/check-egress.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import type { Ground } from './ground.ts'
import { type Host, startHost } from './host-process.ts'
import { onWay, openHostWay } from './host-way.ts'
import { isolationOf } from './network-isolation.ts'
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
  { config, user, events }: { config: Config } & Pick<Context, 'user' | 'events'>,
  ground: Pick<Ground, 'folder' | 'egressPath' | 'trust' | 'canary'>,
): readonly Slot[] => {
  const { egressPath } = ground
  const start = async (stop: AbortSignal) => {
    await checkEgress({ socketPath: egressPath })
    const folder = join(ground.folder, `host-${randomUUID().slice(0, 8)}`)
    await using stack = new AsyncDisposableStack()
    const way = stack.use(await openHostWay(config, { path: `${folder}.sock`, user }))
    const host = await startHost(
      {
        settings: {
          chromium: config.chromium,
          sandbox: !config.unsafeNoSandbox,
          ...(user && { user }),
          egressPath: way.path,
          recycleCaptures: config.recycleCaptures,
          recycleMs: config.recycleSeconds * 1000,
          heightMax: config.heightMax,
          bytesMax: config.captureBytesMax,
          connectionsMax: config.captureConnectionsMax,
        },
        isolation: isolationOf(config, user),
        trust: ground.trust,
        folder,
      },
      stop,
    )
    stack.move()
    return await warmed(onWay(host, way), ground.canary, stop)
  }
  return Array.from({ length: config.slots }, () => createSlot(start, events))
}
