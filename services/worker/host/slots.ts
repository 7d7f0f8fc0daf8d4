import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { backOffMs } from '#shared/policy/back-off.ts'
import { longestStartMs, type Browsers, type BrowserUser } from '#worker/protocol/protocol.ts'
import type { HostConfig } from './find-browsers.ts'
import type { Events } from '#worker/telemetry/events.ts'
import type { BrowserUsers } from '#worker/isolation/browser-users.ts'
import type { Isolation } from '#worker/isolation/isolated.ts'
import type { PullGate } from '#worker/lifecycle/pull-gate.ts'
import type { HostEnvironment } from './host-environment.ts'
import { startHost } from './start-host.ts'
import type { Host } from './steer-host.ts'
import { warmUp } from './warm-up.ts'

type HostEvents = Pick<Events, 'hostUp' | 'hostFailed' | 'hostGone'>

/** The host that a slot uses, and its spare one. */
export const hostsPerSlot = 2

const retryMs = [200, 500, 1000, 2000, 5000]
/** Bounds on a start: the same bound again and again would be a crash loop on a machine that is too busy for it. */
const starts = { firstMs: 30_000, lastMs: longestStartMs }

/** Which captures may share a host. */
export type Sharing = {
  readonly by: HostConfig['shareBrowsers']
  /** Whether a slot that serves this account needs a spare host, as another capture will not share the first one. */
  readonly needsSpare: (accountId: string) => boolean
}

/**
 * The sharing of a worker's slots. Under `account` no slot has a spare host until the worker has seen a second account: one
 * that serves a single account pays for none.
 */
export const createSharing = (by: Sharing['by']): Sharing => {
  let first: string | undefined
  let hasSeveral = false
  return {
    by,
    needsSpare: (accountId) => {
      first ??= accountId
      hasSeveral ||= accountId !== first
      return by === 'capture' || (by === 'account' && hasSeveral)
    },
  }
}

/** Whether a host that served captures of the account `served`, if any, may be used, for a capture of `accountId` if it is known. */
const mayServe = (by: Sharing['by'], served: string | undefined, accountId: string | undefined): boolean =>
  served === undefined || by === 'pool' || (by === 'account' && (accountId === undefined || accountId === served))

/** The host that a slot uses next. */
const createSpare = (launch: (stop: AbortSignal) => Promise<Host>) => {
  let spare: Promise<Host> | undefined
  return {
    /** Starts a host unless there is one. One that fails is started again when it is needed. */
    prepare: (stop: AbortSignal) => {
      if (spare) return
      const starting = launch(stop)
      spare = starting
      starting.catch(() => {
        if (spare === starting) spare = undefined
      })
    },
    take: (): Promise<Host> | undefined => {
      const taken = spare
      spare = undefined
      return taken
    },
    [Symbol.asyncDispose]: async () => {
      const host = await spare?.catch(() => undefined)
      await host?.[Symbol.asyncDispose]()
    },
  }
}

/** Runs one capture at a time, in a browser host that is replaced when it ends, or when its account's or capture's turn does. */
export type Slot = ReturnType<typeof createSlot>

/** Starts a host within `startMs`: resolves once it is warm, or cleans up and rejects, which includes soon after `stop` aborts. */
type StartHost = (stop: AbortSignal, startMs: number) => Promise<Host>

/** Creates a slot. The bound of a start is doubled with each failure in a row. */
export const createSlot = (start: StartHost, sharing: Sharing, events: HostEvents) => {
  const disposal = new AbortController()
  let current: Host | undefined
  /** Account of the captures of the current host. */
  let served: string | undefined
  let coldSince: number | undefined
  let failures = 0
  const isWarm = () => current?.gone.aborted === false
  const launch = async (stop: AbortSignal) => {
    const began = performance.now()
    try {
      const host = await start(AbortSignal.any([stop, disposal.signal]), backOffMs(starts, failures))
      failures = 0
      events.hostUp(performance.now() - began)
      return host
    } catch (error) {
      failures += 1
      if (!stop.aborted && !disposal.signal.aborted) events.hostFailed(toAppError(error))
      throw error
    }
  }
  const spare = createSpare(launch)
  const isFit = (accountId: string | undefined) => isWarm() && mayServe(sharing.by, served, accountId)
  /** Resolves once the current host has ended with all its processes. */
  const discard = async () => {
    const gone = current
    current = undefined
    served = undefined
    await gone?.[Symbol.asyncDispose]()
  }
  const replace = async (stop: AbortSignal) => {
    coldSince ??= performance.now()
    await discard()
    current = await (spare.take() ?? launch(stop))
    coldSince = undefined
  }
  const dispose = async () => {
    disposal.abort()
    await Promise.all([discard(), spare[Symbol.asyncDispose]()])
  }
  return {
    isWarm,
    /** Whether the current host serves captures of this account only. */
    isDedicatedTo: (accountId: string) => sharing.by === 'account' && served === accountId,
    /** Milliseconds for which the slot has been trying to start a host; 0 if it has one or needs none. */
    coldForMs: () => (coldSince === undefined ? 0 : performance.now() - coldSince),
    /**
     * Resolves to a warm host, which it starts if there is none, with retries. With an account, to one that may serve a capture
     * of it, and counts as used then: undefined if the host that this needs fails to start. Undefined once `stop` aborts.
     */
    host: async (stop: AbortSignal, accountId?: string): Promise<Host | undefined> => {
      while (!stop.aborted) {
        if (isFit(accountId)) {
          served = accountId ?? served
          if (accountId !== undefined && sharing.needsSpare(accountId)) spare.prepare(stop)
          return current
        }
        if (current?.gone.aborted) events.hostGone(String(current.gone.reason))
        try {
          await replace(stop)
        } catch {
          if (stop.aborted || accountId !== undefined) return undefined
          await delay(retryMs[Math.min(failures, retryMs.length) - 1], undefined, { signal: stop }).catch(() => {})
        }
      }
      return undefined
    },
    [Symbol.asyncDispose]: dispose,
  }
}

/** Warms up a host; ends it if that fails or `stop` aborts. */
const warmUpOrEnd = async (
  host: Host,
  { canary, ...warming }: Pick<HostEnvironment, 'canary'> & { browser: BrowserKind; startMs: number },
  stop: AbortSignal,
): Promise<Host> => {
  const end = () => host[Symbol.asyncDispose]()
  stop.addEventListener('abort', end)
  try {
    await warmUp(host, canary, warming)
    return host
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

/** Creates the worker's slots; a host is started when it is first needed. */
export const createSlots = (
  { config, isolation, browsers, users, environment, events }: SlotDependencies,
  holds: Pick<PullGate, 'hold' | 'release'>,
): readonly Slot[] => {
  const freeUsers = [...(users?.all ?? [])]
  const startAs = async (user: BrowserUser | undefined, stop: AbortSignal, startMs: number) => {
    const folder = join(environment.folder, `host-${randomUUID().slice(0, 8)}`)
    const host = await startHost(
      {
        settings: {
          browsers,
          sandbox: !config.unsafeNoSandbox,
          ...(user && { user }),
          blockLists: environment.blockLists.folder,
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
    return await warmUpOrEnd(host, { canary: environment.canary, browser: browsers.prewarmed, startMs }, stop)
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
