import { setTimeout as delay } from 'node:timers/promises'
import { toAppError } from '#shared/errors/app-error.ts'
import { backOffMs } from '#shared/policy/back-off.ts'
import { longestStartMs } from '#worker/protocol/protocol.ts'
import type { Events } from '#worker/telemetry/events.ts'
import type { HostConfig } from './find-browsers.ts'
import type { Host } from './steer-host.ts'

/** The account whose captures a slot serves at least cost. */
export type Preference = {
  readonly accountId: string
  /** Whether the slot may serve a capture of the account before those of others that are ahead of it in the lane. */
  readonly mayPass: boolean
}

/** What a slot reports of its hosts. */
export type HostEvents = Pick<Events, 'hostUp' | 'hostFailed' | 'hostGone'>

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

/** The bounds of a run: one of another account that is ahead in the lane waits so much longer for the slot at most. */
const runMax = { captures: 8, ms: 5000 } as const

/** Captures of one account that a slot serves before those of others that are ahead of them in the lane, so that it starts fewer hosts. */
const createRun = () => {
  let captures = 0
  let endsAt = 0
  const isOver = () => captures >= runMax.captures || performance.now() >= endsAt
  return {
    isOver,
    end: () => void (endsAt = 0),
    /** Counts a capture; the first one after the end of a run begins the next. */
    count: () => {
      if (isOver()) [captures, endsAt] = [0, performance.now() + runMax.ms]
      captures += 1
    },
  }
}

/** Runs one capture at a time, in a browser host that is replaced when it ends, or when its account's or capture's turn does. */
export type Slot = ReturnType<typeof createSlot>

/** Starts a host within `startMs`: resolves once it is warm, or cleans up and rejects, which includes soon after `stop` aborts. */
export type StartHost = (stop: AbortSignal, startMs: number) => Promise<Host>

/** Starts hosts until it is disposed, and reports how each start ended. The bound of a start is doubled with each failure in a row. */
const createStarter = (start: StartHost, events: HostEvents) => {
  const disposal = new AbortController()
  let failures = 0
  return {
    /** Waits before the next try after failed starts, or until `stop` aborts. */
    pause: (stop: AbortSignal): Promise<void> =>
      delay(retryMs[Math.min(failures, retryMs.length) - 1], undefined, { signal: stop }).catch(() => {}),
    launch: async (stop: AbortSignal): Promise<Host> => {
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
    },
    [Symbol.dispose]: () => disposal.abort(),
  }
}

/** Creates a slot. */
export const createSlot = (start: StartHost, sharing: Sharing, events: HostEvents) => {
  const starter = createStarter(start, events)
  let current: Host | undefined
  /** Account of the captures of the current host. */
  let served: string | undefined
  const run = createRun()
  let coldSince: number | undefined
  const isWarm = () => current?.gone.aborted === false
  const spare = createSpare(starter.launch)
  const isFit = (accountId: string | undefined) => isWarm() && mayServe(sharing.by, served, accountId)
  /** Resolves once the current host has ended with all its processes. */
  const discard = async () => {
    const gone = current
    current = undefined
    served = undefined
    run.end()
    await gone?.[Symbol.asyncDispose]()
  }
  const replace = async (stop: AbortSignal) => {
    coldSince ??= performance.now()
    await discard()
    current = await (spare.take() ?? starter.launch(stop))
    coldSince = undefined
  }
  const dispose = async () => {
    starter[Symbol.dispose]()
    await Promise.all([discard(), spare[Symbol.asyncDispose]()])
  }
  return {
    isWarm,
    /** The account that the current host serves alone, if any, and whether its run goes on. */
    preference: (): Preference | undefined =>
      sharing.by === 'account' && served !== undefined && isWarm()
        ? { accountId: served, mayPass: !run.isOver() }
        : undefined,
    /** Milliseconds for which the slot has been trying to start a host; 0 if it has one or needs none. */
    coldForMs: () => (coldSince === undefined ? 0 : performance.now() - coldSince),
    /**
     * Resolves to a warm host, which it starts if there is none, with retries. With an account, to one that may serve a capture
     * of it, and counts as used then: undefined if the host that this needs fails to start. Undefined once `stop` aborts.
     */
    host: async (stop: AbortSignal, accountId?: string): Promise<Host | undefined> => {
      while (!stop.aborted) {
        if (isFit(accountId)) {
          if (accountId === undefined) return current
          served = accountId
          run.count()
          if (sharing.needsSpare(accountId)) spare.prepare(stop)
          return current
        }
        if (current?.gone.aborted) events.hostGone(String(current.gone.reason))
        try {
          await replace(stop)
        } catch {
          if (stop.aborted || accountId !== undefined) return undefined
          await starter.pause(stop)
        }
      }
      return undefined
    },
    [Symbol.asyncDispose]: dispose,
  }
}
