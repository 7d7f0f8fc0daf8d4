import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import type { BrowserUser } from './browser-host/protocol.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import type { PullGate } from './pull-gate.ts'
import type { Events } from './events.ts'
import type { HostEnvironment } from './host-environment.ts'
import { startHost } from './host/start-host.ts'
import type { Host } from './host/steer-host.ts'
import { createSlot, type Slot } from './slot.ts'
import { warmUp } from './warm-up.ts'

/** Warms a host up; one that must not be used, or that nobody waits for any more, is ended. */
const warmed = async (
  host: Host,
  { canary, browser }: Pick<HostEnvironment, 'canary'> & { browser: BrowserKind },
  stop: AbortSignal,
): Promise<Host> => {
  const end = () => host[Symbol.asyncDispose]()
  stop.addEventListener('abort', end)
  try {
    await warmUp(host, canary, browser)
    return host
  } catch (error) {
    await end()
    throw error
  } finally {
    stop.removeEventListener('abort', end)
  }
}

/** Holds the worker once browsers have failed to start so often in a row, in whichever slot, until one has started. */
const failuresMax = 3

type HostEvents = Pick<Events, 'hostUp' | 'hostFailed' | 'hostGone'>

/** Passes on how starts of browsers went, and holds the worker after too many failures. */
export const holdAfterFailures = (events: HostEvents, holds: Pick<PullGate, 'hold' | 'release'>): HostEvents => {
  let failures = 0
  return {
    hostGone: events.hostGone,
    hostUp: (tookMs) => {
      failures = 0
      events.hostUp(tookMs)
      holds.release('browser')
    },
    hostFailed: (error) => {
      failures += 1
      events.hostFailed(error)
      if (failures >= failuresMax)
        holds.hold('browser', `failed to start ${failuresMax} times in a row: ${error.message}`)
    },
  }
}

/** Makes the worker's slots; their hosts are started when they are first asked for. */
export const createSlots = (
  {
    config,
    isolation,
    browsers,
    users,
    events,
  }: { config: Config } & Pick<Context, 'isolation' | 'browsers' | 'users' | 'events'>,
  environment: Pick<HostEnvironment, 'folder' | 'trust' | 'blockLists' | 'canary'>,
  holds: Pick<PullGate, 'hold' | 'release'>,
): readonly Slot[] => {
  const start = async (user: BrowserUser | undefined, stop: AbortSignal) => {
    const folder = join(environment.folder, `host-${randomUUID().slice(0, 8)}`)
    const host = await startHost(
      {
        settings: {
          browsers,
          sandbox: !config.unsafeNoSandbox,
          ...(user && { user }),
          blockLists: environment.blockLists.folder,
          ...(environment.trust && { trust: environment.trust }),
          isOneAccounts: config.shareBrowsers === 'account',
          recycleCaptures: config.shareBrowsers === 'capture' ? 1 : config.recycleCaptures,
          recycleMs: config.recycleSeconds * 1000,
          // Half is left to a page.
          recycleBytes: config.browserMemoryMax / 2,
          heightMax: config.heightMax,
          pixelsMax: config.pixelsMax,
        },
        way: { ...config, bytesMax: config.captureBytesMax, connectionsMax: config.captureConnectionsMax },
        isolation,
        memoryMax: config.browserMemoryMax,
        folder,
      },
      stop,
    )
    return await warmed(host, { canary: environment.canary, browser: browsers.kept }, stop)
  }
  const counted = holdAfterFailures(events, holds)
  return Array.from({ length: config.slots }, (_, slot) =>
    createSlot((stop) => start(users?.bySlot[slot], stop), counted),
  )
}
