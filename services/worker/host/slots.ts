import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import { toAppError } from '#shared/errors/app-error.ts'
import { backOffMs } from '#shared/policy/back-off.ts'
import { longestStartMs, type Browsers, type BrowserUser } from '#worker/browser-host/protocol.ts'
import type { Config } from '#worker/config.ts'
import type { Events } from '#worker/events.ts'
import type { BrowserUsers } from '#worker/isolation/browser-users.ts'
import type { Isolation } from '#worker/isolation/isolated.ts'
import type { PullGate } from '#worker/lifecycle/pull-gate.ts'
import type { HostEnvironment } from './host-environment.ts'
import { startHost } from './start-host.ts'
import type { Host } from './steer-host.ts'
import { warmUp } from './warm-up.ts'

type HostEvents = Pick<Events, 'hostUp' | 'hostFailed' | 'hostGone'>

const retryMs = [200, 500, 1000, 2000, 5000]
/** Bounds on a start: the same bound again and again would be a crash loop on a machine that is too busy for it. */
const starts = { firstMs: 30_000, lastMs: longestStartMs }

/** Runs one capture at a time, in a browser host that is replaced when it ends. */
export type Slot = ReturnType<typeof createSlot>

/**
 * Creates a slot. `start` resolves to a warm host, or cleans up and rejects, soon after `startMs` (doubled with each failure in a
 * row) or after `stop` aborts.
 */
export const createSlot = (start: (stop: AbortSignal, startMs: number) => Promise<Host>, events: HostEvents) => {
  let current: Host | undefined
  let coldSince: number | undefined
  const isWarm = () => current?.gone.aborted === false
  const discard = async () => {
    const gone = current
    current = undefined
    await gone?.[Symbol.asyncDispose]()
  }
  return {
    isWarm,
    /** Milliseconds for which the slot has been trying to start a host; 0 if it has one or needs none. */
    coldForMs: () => (coldSince === undefined ? 0 : performance.now() - coldSince),
    /** Resolves to a warm host, which it starts if there is none, with retries. Undefined once `stop` aborts. */
    host: async (stop: AbortSignal): Promise<Host | undefined> => {
      for (let failures = 0; !stop.aborted; failures += 1) {
        if (current && !current.gone.aborted) return current
        if (current) events.hostGone(String(current.gone.reason))
        await discard()
        const began = performance.now()
        coldSince ??= began
        try {
          const host = await start(stop, backOffMs(starts, failures))
          current = host
          coldSince = undefined
          events.hostUp(performance.now() - began)
        } catch (error) {
          if (stop.aborted) return undefined
          events.hostFailed(toAppError(error))
          await delay(retryMs[Math.min(failures, retryMs.length - 1)], undefined, { signal: stop }).catch(() => {})
        }
      }
      return undefined
    },
    [Symbol.asyncDispose]: discard,
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
  readonly config: Config
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
  const start = async (user: BrowserUser | undefined, stop: AbortSignal, startMs: number) => {
    const folder = join(environment.folder, `host-${randomUUID().slice(0, 8)}`)
    const host = await startHost(
      {
        settings: {
          browsers,
          sandbox: !config.unsafeNoSandbox,
          ...(user && { user }),
          blockLists: environment.blockLists.folder,
          ...(environment.trust && { trust: environment.trust }),
          isDedicated: config.shareBrowsers === 'account',
          recycleCaptures: config.shareBrowsers === 'capture' ? 1 : config.recycleCaptures,
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
    return await warmUpOrEnd(host, { canary: environment.canary, browser: browsers.kept, startMs }, stop)
  }
  const counted = holdAfterFailures(events, holds)
  return Array.from({ length: config.slots }, (_, slot) =>
    createSlot((stop, startMs) => start(users?.bySlot[slot], stop, startMs), counted),
  )
}
