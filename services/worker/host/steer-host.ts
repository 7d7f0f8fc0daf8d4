import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { endsBeforeMs } from '#shared/capture/budget.ts'
import { outputBytesMax, outputsMax } from '#shared/capture/files.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { TargetTexts } from '#shared/policy/target-lists.ts'
import { StallWatch } from '#shared/config/stalls.ts'
import { within } from '#shared/process/within.ts'
import {
  deadlineFailure,
  excuseStalls,
  type HostSettings,
  type Order,
  type Outcome,
  pdfBytesMax,
  pipeFd,
} from '#worker/protocol/protocol.ts'
import type { Isolation, NetworkIsolation } from '#worker/isolation/isolated.ts'
import { watchMemory, listChildren, keepStderr, readProcessorTicks, runningPid } from '#worker/isolation/processes.ts'
import type { TrafficBounds } from '#worker/network/capture-traffic.ts'
import { createRelay, type Relay } from '#worker/network/relay.ts'
import { killGroup, killProcess } from '#shared/process/kill-group.ts'
import type { EgressEndpoint } from '#worker/network/request-tunnel.ts'
import { type HostPipe, openHostPipe } from './host-pipe.ts'

/** Uncompressed size of a pixel, plus the overhead of an image format. */
const bytesPerPixel = 5

/** A running browser host. Dispose kills it and its browser. */
export type Host = AsyncDisposable & {
  /** Aborts, with the reason as text, once the host has ended or was killed. */
  readonly gone: AbortSignal
  /**
   * Runs one order, one at a time. Never throws; kills the host before the order's budget ends at `endsAt` (on `performance`'s
   * clock). `targets`: the lists of its account, which egress applies; the host does not get them.
   */
  readonly capture: (order: Order, endsAt: number, targets?: TargetTexts) => Promise<Outcome>
}

/** The bounds of a host, and the egress that it uses. */
export type HostBounds = {
  readonly settings: Pick<HostSettings, 'pixelsMax'>
  readonly isolation: Pick<Isolation, 'network'>
  readonly upstream: EgressEndpoint & TrafficBounds
  /** Bound in bytes on the anonymous memory of host and browser during a capture. */
  readonly memoryMax: number
  /** Bound in milliseconds on the start of host and browser: 1 s on an idle core, far longer on a busy machine. */
  readonly startMs: number
}

/**
 * Kills a host and its browsers. In a PID namespace its first process is killed: the kernel then ends all others before `bwrap`
 * can collect it and exits, so that nothing is left once the child has exited. Without one the browsers, which lead process
 * groups, are looked up first, and what has left these groups survives.
 */
const kill = (child: ChildProcess, network: NetworkIsolation) => {
  const pid = runningPid(child)
  if (pid === undefined) return
  const children = listChildren(pid)
  if (network === 'flags-only' || children.length === 0) killGroup(pid)
  for (const each of children) {
    if (network === 'flags-only') killGroup(each)
    else killProcess(each)
  }
}

/** Longest time at its deadline for which a host that runs uses no processor. */
const idleMs = 1000

/** The processor time of the host itself, without its browsers: in a namespace `bwrap` starts the first process, which starts the host. */
const readHostTicks = ({ pid = 0 }: ChildProcess, network: NetworkIsolation): number => {
  const [first = 0] = listChildren(pid)
  return readProcessorTicks(network === 'flags-only' ? pid : (listChildren(first)[0] ?? 0))
}

/**
 * Calls `late` in `waitMs`, unless it is disposed before, with whether the host ran in the second before. A host that runs would have
 * reported by then.
 */
const startHostDeadline = (waitMs: number, readTicks: () => number, late: (hasRun: boolean) => void): Disposable => {
  let timer = setTimeout(
    () => {
      const before = readTicks()
      timer = setTimeout(() => late(readTicks() > before), Math.min(idleMs, waitMs))
    },
    Math.max(0, waitMs - idleMs),
  )
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}

type Failed = Extract<Outcome, { outcome: 'failed' }>

type Running = {
  readonly child: ChildProcess
  readonly pipe: HostPipe
  readonly relay: Relay
  readonly gone: AbortSignal
  /** Ends the host; the reason is for logs. */
  readonly end: (reason: string) => void
  readonly memoryMax: number
  readonly network: NetworkIsolation
}

const captureIn = async (
  { child, pipe, relay, gone, end, memoryMax, network }: Running,
  order: Order,
  { endsAt, targets }: { readonly endsAt: number; readonly targets: TargetTexts | undefined },
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
  const endWith = (detail: string, createOutcome: (detail: string) => Outcome) => {
    resolve(createOutcome(detail))
    end(detail)
  }
  const failed = (failure: Pick<Failed, 'code' | 'message' | 'blame'>) => (detail: string) =>
    ({ outcome: 'failed', ...failure, detail, timings: {} }) as const
  const late = () => failed(deadlineFailure(isLoaded, order.options.timeout))
  const left = (step: 'browser' | 'page') => endsAt - endsBeforeMs[step] - performance.now()
  using stalls = new StallWatch()
  using _deadline = startHostDeadline(
    left('browser'),
    () => readHostTicks(child, network),
    (hasRun) =>
      hasRun ? endWith('killed at the deadline', late()) : endWith('the host did not run at its deadline', interrupted),
  )
  using _traffic = order.online ? relay.begin({ id: order.id, proxy: order.options.proxy, targets }) : undefined
  using _watch = watchMemory(child.pid ?? 0, memoryMax, () => {
    const message = `The page takes more memory than the ${memoryMax} bytes that its browser may have.`
    if (isOpen) endWith('killed at its bound of memory', failed({ code: 'RENDER_ERROR', message, blame: 'target' }))
    // Before that the memory belongs to the previous page, which is being closed.
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
  gone.removeEventListener('abort', onGone)
  return excuseStalls(outcome, { stalledMs: stalls.stalledMs, timeoutSeconds: order.options.timeout, isLoaded })
}

/** Waits for the listening socket of the browser's proxy, the only message on Node's IPC channel. */
const receiveSocket = async (child: ChildProcess): Promise<Server | undefined> => {
  const [, socket] = (await once(child, 'message')) as unknown[]
  // Closed before any page runs: the channel trusts the child and accepts any handle from it.
  if (child.connected) child.disconnect()
  return socket instanceof Server ? socket : undefined
}

/**
 * Waits until a host accepts orders. If it fails to start, or `stop` aborts first, kills it and throws `SERVICE_UNAVAILABLE`
 * with the end of its standard error. A host that breaks the protocol is killed, and its capture is reported as interrupted
 * by the browser.
 */
export const steerHost = async (
  child: ChildProcess,
  { upstream, memoryMax, startMs, isolation: { network }, settings: { pixelsMax } }: HostBounds,
  stop: AbortSignal,
): Promise<Host> => {
  const stderr = keepStderr(child)
  const ending = new AbortController()
  const ended = once(child, 'exit').catch(() => {})
  void ended.then(() => ending.abort(`host ended: ${stderr()}`))
  const end = (reason: string) => {
    kill(child, network)
    ending.abort(reason)
  }
  const dispose = async () => {
    end('no longer needed')
    await ended
  }
  const bounds = {
    imageBytesMax: Math.max(bytesPerPixel * pixelsMax, pdfBytesMax) + outputsMax * outputBytesMax,
    loadBytesMax: upstream.bytesMax,
  }
  const broken = (reason: string) => end(`host broke the protocol: ${reason}`)
  const stream = child.stdio[pipeFd] as Duplex
  const pipe = openHostPipe(stream, bounds, broken)
  // Without the pipe a host cannot report; its standard error has the reason.
  stream.once('close', () => kill(child, network))
  const fail = () =>
    new AppError('SERVICE_UNAVAILABLE', {
      message: `browser host: ${stderr() || `failed to start within ${startMs / 1000} s`}`,
    })
  const onStop = () => end('the worker stops')
  stop.addEventListener('abort', onStop)
  if (stop.aborted) onStop()
  try {
    const socket = await within(Promise.race([receiveSocket(child), ended]), startMs, fail)
    if (!(socket instanceof Server) || ending.signal.aborted) throw fail()
    const relay = createRelay(socket, upstream, pipe)
    const running = { child, pipe, relay, gone: ending.signal, end, memoryMax, network }
    return {
      gone: ending.signal,
      capture: (order, endsAt, targets) => captureIn(running, order, { endsAt, targets }),
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
