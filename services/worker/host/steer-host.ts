import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { endsBeforeMs } from '#shared/capture/budget.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import {
  deadlineFailure,
  type DueOrder,
  type HostSettings,
  type Order,
  type Outcome,
  pdfBytesMax,
  pipeFd,
} from '#worker/browser-host/protocol.ts'
import { watchMemory, childrenOf, keepStderr, runningPid } from '#worker/isolation/processes.ts'
import type { TrafficBounds } from '#worker/network/capture-traffic.ts'
import { createRelay, type Relay } from '#worker/network/relay.ts'
import { killGroup } from '#shared/process/kill-group.ts'
import type { EgressEndpoint } from '#worker/network/request-tunnel.ts'
import { type HostPipe, openHostPipe } from './host-pipe.ts'

/** A host starts in 0.2 s on an idle core; a busy machine may take far longer. */
const upMs = 30_000

/** Of one pixel before it is compressed, with room for what a format adds. */
const bytesPerPixel = 5

/** A browser host that runs. Dispose ends it and its browser at once. */
export type Host = AsyncDisposable & {
  /** Aborts, with the reason in words, once the host is over, by itself or by us. */
  readonly gone: AbortSignal
  /** The account to which its browser is dedicated; undefined before its first capture, and where browsers are not. */
  readonly accountId: () => string | undefined
  /** Serves one order, one at a time. Never throws: it ends host and browser before the budget of the order does, at `endsAt` (on `performance`'s clock). */
  readonly capture: (order: Order, endsAt: number) => Promise<Outcome>
}

/** What a host may be and do, and its way out. */
export type HostBounds = {
  readonly settings: Pick<HostSettings, 'isOneAccounts' | 'pixelsMax'>
  readonly way: EgressEndpoint & TrafficBounds
  /** Bytes that host and browser may have for themselves while they capture. */
  readonly memoryMax: number
}

/**
 * Ends a host and its browsers. In namespaces of its own nothing outlives its group; by flags alone the browsers do, and
 * first have to be found.
 */
const kill = (child: ChildProcess) => {
  const pid = runningPid(child)
  if (pid === undefined) return
  const browsers = childrenOf(pid)
  killGroup(pid)
  for (const browser of browsers) killGroup(browser)
}

type Running = {
  readonly child: ChildProcess
  readonly pipe: HostPipe
  readonly relay: Relay
  readonly gone: AbortSignal
  /** Ends the host; the reason is for logs. */
  readonly end: (reason: string) => void
  readonly memoryMax: number
}

const captureIn = async (
  { child, pipe, relay, gone, end, memoryMax }: Running,
  order: Omit<DueOrder, 'leftMs'>,
  endsAt: number,
): Promise<Outcome> => {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  let [isOpen, isLoaded] = [false, false]
  const interrupted = (detail: string): Outcome => ({
    outcome: 'interrupted',
    by: 'browser',
    isLoaded,
    detail,
    timings: {},
  })
  const endWith = (detail: string, outcomeOf: (detail: string) => Outcome) => {
    resolve(outcomeOf(detail))
    end(detail)
  }
  const failed = (of: ReturnType<typeof deadlineFailure>) => (detail: string) =>
    ({ outcome: 'failed', ...of, detail, timings: {} }) as const
  const late = () => failed(deadlineFailure(isLoaded, order.options.timeout))
  const left = (step: 'browser' | 'page') => endsAt - endsBeforeMs[step] - performance.now()
  const timer = setTimeout(() => endWith('killed at the deadline', late()), left('browser'))
  using _traffic = order.online ? relay.begin({ id: order.id, proxy: order.options.proxy }) : undefined
  using _watch = watchMemory(child.pid ?? 0, memoryMax, () => {
    const message = `The page takes more memory than the ${memoryMax} bytes that its browser may have.`
    if (isOpen) endWith('killed at its bound of memory', failed({ code: 'RENDER_ERROR', message }))
    // What takes it before is a page that is being closed.
    else endWith('the page before took too much memory', interrupted)
  })
  const onGone = () => resolve(interrupted(String(gone.reason)))
  gone.addEventListener('abort', onGone)
  // A host that has ended takes no order.
  if (gone.aborted) onGone()
  else {
    const due = { ...order, leftMs: left('page') }
    void pipe.order(due, { opened: () => (isOpen = true), loaded: () => (isLoaded = true) }).then(resolve)
  }
  const outcome = await promise
  clearTimeout(timer)
  gone.removeEventListener('abort', onGone)
  return outcome
}

/** Waits for the socket on which the browser's connections come in: all that Node's own channel is for. */
const receiveSocket = async (child: ChildProcess): Promise<Server | undefined> => {
  const [, socket] = (await once(child, 'message')) as unknown[]
  // It trusts its other end, and takes any handle. No page has run there yet.
  if (child.connected) child.disconnect()
  return socket instanceof Server ? socket : undefined
}

/**
 * Waits until a host takes orders. Throws `SERVICE_UNAVAILABLE` with the end of its standard error, and ends it, where it fails to start, or
 * where `stop` aborts before. A host that breaks the protocol is ended, and what it captures counts as broken off by its
 * browser.
 */
export const steerHost = async (
  child: ChildProcess,
  { way, memoryMax, settings: { isOneAccounts, pixelsMax } }: HostBounds,
  stop: AbortSignal,
): Promise<Host> => {
  const stderr = keepStderr(child)
  const ending = new AbortController()
  const ended = once(child, 'exit').catch(() => {})
  void ended.then(() => ending.abort(`host ended: ${stderr()}`))
  const end = (reason: string) => {
    kill(child)
    ending.abort(reason)
  }
  const dispose = async () => {
    end('no longer needed')
    await ended
  }
  const bounds = { imageBytesMax: Math.max(bytesPerPixel * pixelsMax, pdfBytesMax), loadBytesMax: way.bytesMax }
  const broken = (reason: string) => end(`host broke the protocol: ${reason}`)
  const stream = child.stdio[pipeFd] as Duplex
  const pipe = openHostPipe(stream, bounds, broken)
  // Without it a host can report nothing more; its exit has the reason.
  stream.once('close', () => kill(child))
  const fail = () => new AppError('SERVICE_UNAVAILABLE', { message: `browser host: ${stderr() || 'failed to start'}` })
  const onStop = () => end('the worker stops')
  stop.addEventListener('abort', onStop)
  if (stop.aborted) onStop()
  try {
    const socket = await within(Promise.race([receiveSocket(child), ended]), upMs, fail)
    if (!(socket instanceof Server) || ending.signal.aborted) throw fail()
    const relay = createRelay(socket, way, pipe)
    const running = { child, pipe, relay, gone: ending.signal, end, memoryMax }
    let lastAccountId: string | undefined
    return {
      gone: ending.signal,
      accountId: () => (isOneAccounts ? lastAccountId : undefined),
      capture: ({ accountId, ...order }, endsAt) => {
        const isOtherAccounts = lastAccountId !== undefined && accountId !== lastAccountId
        lastAccountId = accountId
        return captureIn(running, { ...order, isOtherAccounts }, endsAt)
      },
      [Symbol.asyncDispose]: async () => {
        relay[Symbol.dispose]()
        await dispose()
      },
    }
  } catch (error) {
    await dispose()
    throw error
  } finally {
    stop.removeEventListener('abort', onStop)
  }
}
