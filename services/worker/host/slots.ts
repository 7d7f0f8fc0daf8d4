import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Browsers, BrowserUser } from '#worker/protocol/protocol.ts'
import type { HostConfig } from './find-browsers.ts'
import type { BrowserUsers } from '#worker/isolation/browser-users.ts'
import type { Isolation } from '#worker/isolation/isolated.ts'
import type { PullGate } from '#worker/lifecycle/pull-gate.ts'
import type { HostEnvironment } from './host-environment.ts'
import { createSharing, createSlot, type HostEvents, type Slot, type StartHost } from './slot.ts'
import { startHost } from './start-host.ts'
import type { Host } from './steer-host.ts'
import { createPassed, warmUp } from './warm-up.ts'

/** The host that a slot uses, and its spare one. */
export const hostsPerSlot = 2

/** Warms up a host; ends it and throws if that fails or `stop` aborts. */
const warmUpOrEnd = async (
  host: Host,
  { canary, ...warming }: Pick<HostEnvironment, 'canary'> & { browser: BrowserKind; startMs: number },
  stop: AbortSignal,
): Promise<void> => {
  const end = () => host[Symbol.asyncDispose]()
  stop.addEventListener('abort', end)
  try {
    await warmUp(host, canary, warming)
  } catch (error) {
    await end()
    throw error
  } finally {
    stop.removeEventListener('abort', end)
  }
}

/** Failed starts in a row, over all slots, after which the worker is held. */
const failuresMax = 3

/** Forwards the events; holds the worker after `failuresMax` failed starts in a row, until a host has started. */
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

/** The dependencies of slots and their hosts. */
export type SlotDependencies = {
  readonly config: HostConfig
  readonly isolation: Isolation
  readonly browsers: Browsers
  /** Undefined if browsers run as the worker's own user. */
  readonly users: BrowserUsers | undefined
  readonly environment: HostEnvironment
  readonly events: HostEvents
}

/**
 * Creates the worker's slots; a host is started when it is first needed. All hosts start alike: the first one proves what a page can
 * reach, and that sites are isolated from each other, for those that start with the same program.
 */
export const createSlots = (
  { config, isolation, browsers, users, environment, events }: SlotDependencies,
  holds: Pick<PullGate, 'hold' | 'release'>,
): readonly Slot[] => {
  const freeUsers = [...(users?.all ?? [])]
  const { prewarmed } = browsers
  const passed = createPassed(browsers.binaries[prewarmed] ?? '')
  const startAs = async (user: BrowserUser | undefined, stop: AbortSignal, startMs: number) => {
    const folder = join(environment.folder, `host-${randomUUID().slice(0, 8)}`)
    const { isPassed, record } = passed.read()
    const host = await startHost(
      {
        settings: {
          browsers,
          checked: isPassed ? [prewarmed] : [],
          sandbox: !config.unsafeNoSandbox,
          ...(user && { user }),
          blockLists: environment.blockLists.folder,
          fonts: environment.fonts,
          ...(environment.trust && { trust: environment.trust }),
          recycleCaptures: config.recycleCaptures,
          recycleMs: config.recycleSeconds * 1000,
          // The other half is for a page.
          recycleBytes: config.browserMemoryMax / 2,
          heightMax: config.heightMax,
          pixelsMax: config.pixelsMax,
        },
        upstream: { ...config, bytesMax: config.captureBytesMax, connectionsMax: config.captureConnectionsMax },
        isolation,
        memoryMax: config.browserMemoryMax,
        startMs,
        folder,
      },
      stop,
    )
    if (!isPassed) await warmUpOrEnd(host, { canary: environment.canary, browser: prewarmed, startMs }, stop)
    record()
    return host
  }
  /** A user is free again once the host has ended with all its processes. */
  const start: StartHost = async (stop, startMs) => {
    const user = freeUsers.shift()
    if (users && !user) throw new AppError('SERVICE_UNAVAILABLE', { message: 'every browser user still has a host' })
    const release = () => void (user && freeUsers.push(user))
    try {
      const host = await startAs(user, stop, startMs)
      return {
        ...host,
        [Symbol.asyncDispose]: async () => {
          await host[Symbol.asyncDispose]()
          release()
        },
      }
    } catch (error) {
      release()
      throw error
    }
  }
  const [counted, sharing] = [holdAfterFailures(events, holds), createSharing(config.shareBrowsers)]
  return Array.from({ length: config.slots }, () => createSlot(start, sharing, counted))
}
