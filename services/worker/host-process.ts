import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, rm } from 'node:fs/promises'
import { Server } from 'node:net'
import { join } from 'node:path'
import { AppError } from '#shared/errors/app-error.ts'
import type { DueOrder, HostSettings, Message, Order, Outcome, Report } from './browser-host/protocol.ts'
import { within } from '#shared/process/within.ts'
import { browserHome } from './isolation/file-tree.ts'
import { type Isolation, isolated, systemPath } from './isolation/isolated.ts'
import { watchMemory } from './isolation/memory-watch.ts'
import type { TrafficBounds, TrafficOwner } from './network/capture-traffic.ts'
import { createRelay, type Relay } from './network/relay.ts'
import type { EgressWay } from './network/request-tunnel.ts'
import { childrenOf, killGroup } from './process-groups.ts'

/** A host is up in 0.2 s on an idle core; a busy machine may take far longer. */
const upMs = 30_000
const complaintCharacters = 2000

/** Time for a host to say that an order took too long, before it is ended. */
const reportMs = 500

/** A browser host that runs. Dispose ends it, its browser and its folder at once. */
export type Host = AsyncDisposable & {
  /** Aborts once the host is over, by itself or by us. */
  readonly gone: AbortSignal
  /** Serves one order, one at a time. Never throws; at `endsAt` (on `performance`'s clock) it ends host and browser instead of waiting. */
  readonly capture: (order: Order, endsAt: number) => Promise<Outcome>
}

/** What starting a host takes beside the settings that it gets itself. */
export type HostStart = {
  readonly settings: Omit<HostSettings, 'hasOwnFiles'>
  readonly isolation: Isolation
  readonly way: EgressWay & TrafficBounds
  /** Bytes that host and browser may have for themselves while they capture. */
  readonly memoryMax: number
  /** Folder that the host gets for its own by flags alone; it must not exist yet. */
  readonly folder: string
}

const program = join(import.meta.dirname, 'browser-host/main.ts')

const failure = (code: 'TIMEOUT' | 'RENDER_ERROR', message: string, detail: string): Outcome => ({
  outcome: 'failed',
  code,
  message,
  detail,
  timings: {},
})

const launch = ({ settings, isolation, folder }: HostStart): ChildProcess => {
  const isApart = isolation.network === 'namespace'
  const home = isApart ? browserHome : folder
  const { blockLists, trust } = settings
  const inside = { ...settings, blockLists: '/run/block-lists', ...(trust && { trust: '/run/trust' }) }
  const mounts = [
    { from: blockLists, to: inside.blockLists },
    ...(trust && inside.trust ? [{ from: trust, to: inside.trust }] : []),
  ]
  const [file, ...args] = isolated(
    [
      process.execPath,
      program,
      JSON.stringify({ ...(isApart ? inside : settings), hasOwnFiles: isApart } satisfies HostSettings),
    ],
    isolation,
    mounts,
  )
  return spawn(file, args, {
    cwd: isApart ? '/' : folder,
    detached: true,
    env: { PATH: systemPath, HOME: home, TMPDIR: home, LANG: 'C.UTF-8' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
  })
}

const makeHome = async ({ folder, settings: { user } }: HostStart): Promise<void> => {
  await mkdir(folder, { mode: 0o700 })
  if (user) await chown(folder, user.userId, user.groupId)
}

/**
 * Ends a host and its browsers. In namespaces of its own nothing outlives its group; by flags alone the browsers do, and
 * first have to be found.
 */
const kill = ({ pid }: ChildProcess) => {
  if (pid === undefined) return
  const browsers = childrenOf(pid)
  killGroup(pid)
  for (const browser of browsers) killGroup(browser)
}

type Running = {
  readonly child: ChildProcess
  readonly relay: Relay
  /** Aborted once the host is over, or is about to be by our doing. */
  readonly ending: AbortController
  /** The end of what the host wrote to its standard error. */
  readonly complaint: () => string
  readonly memoryMax: number
}

const send = (child: ChildProcess, message: Message) => child.send(message, () => {})

/** Puts the questions of the relay to a host; what a host that is gone leaves unanswered waits for nobody. */
const ownerOf = (child: ChildProcess, { bytesMax }: TrafficBounds): TrafficOwner => {
  const waiting = new Map<number, (isAllowed: boolean) => void>()
  let count = 0
  child.on('message', (report: Report) => {
    if (report.kind !== 'verdict') return
    waiting.get(report.number)?.(report.isAllowed)
    waiting.delete(report.number)
  })
  return {
    review: (host, refusal) => {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      count += 1
      waiting.set(count, resolve)
      send(child, { kind: 'connection', number: count, host, refusal })
      return promise
    },
    tooMuch: () => send(child, { kind: 'too-much', bytesMax }),
  }
}

const captureIn = async (
  { child, relay, ending, complaint, memoryMax }: Running,
  order: Omit<DueOrder, 'leftMs'>,
  endsAt: number,
): Promise<Outcome> => {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  let [isOpen, isLoaded] = [false, false]
  const onReport = (report: Report) => {
    if (report.kind === 'up' || report.kind === 'verdict' || report.id !== order.id) return
    if (report.kind === 'ended') resolve(report.outcome)
    else if (report.kind === 'loaded') isLoaded = true
    else isOpen = true
  }
  const end = (outcome: Outcome) => {
    kill(child)
    resolve(outcome)
    ending.abort()
  }
  const timer = setTimeout(() => {
    end(
      isLoaded
        ? failure('RENDER_ERROR', 'The page stopped responding after it had loaded.', 'killed at the deadline')
        : failure('TIMEOUT', `The page did not load within ${order.options.timeout} s.`, 'killed at the deadline'),
    )
  }, endsAt - performance.now())
  using _traffic = order.online ? relay.begin({ id: order.id, proxy: order.options.proxy }) : undefined
  using _watch = watchMemory(child.pid ?? 0, memoryMax, () => {
    const message = `The page takes more memory than the ${memoryMax} bytes that its browser may have.`
    // What takes it before is a page that is being closed.
    const detail = 'the page before took too much memory'
    if (isOpen) end(failure('RENDER_ERROR', message, 'killed at its bound of memory'))
    else end({ outcome: 'interrupted', by: 'browser', isLoaded, detail, timings: {} })
  })
  const onGone = () =>
    resolve({ outcome: 'interrupted', by: 'browser', isLoaded, detail: `host ended: ${complaint()}`, timings: {} })
  ending.signal.addEventListener('abort', onGone)
  child.on('message', onReport)
  // A host that cannot be told anything is about to be gone.
  if (ending.signal.aborted) onGone()
  else send(child, { kind: 'order', order: { ...order, leftMs: endsAt - performance.now() - reportMs } })
  const outcome = await promise
  clearTimeout(timer)
  ending.signal.removeEventListener('abort', onGone)
  child.off('message', onReport)
  return outcome
}

/**
 * Starts a browser host and waits until it takes orders. Throws `SERVICE_UNAVAILABLE` with what it complained of where it
 * does not come up, or where `stop` aborts before.
 */
export const startHost = async (start: HostStart, stop: AbortSignal): Promise<Host> => {
  const { folder } = start
  if (start.isolation.network === 'flags-only') await makeHome(start)
  const child = launch(start)
  let complaint = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-complaintCharacters)
  })
  const ending = new AbortController()
  const gone = ending.signal
  const ended = once(child, 'exit').catch(() => {})
  void ended.then(() => ending.abort())
  const dispose = async () => {
    if (child.exitCode === null && child.signalCode === null) kill(child)
    await ended
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const fail = () => new AppError('SERVICE_UNAVAILABLE', { message: `browser host: ${complaint || 'did not come up'}` })
  const onStop = () => kill(child)
  stop.addEventListener('abort', onStop)
  if (stop.aborted) onStop()
  let relay: Relay
  try {
    const [, proxy] = (await within(Promise.race([once(child, 'message'), ended]), upMs, fail)) ?? []
    if (gone.aborted || !(proxy instanceof Server)) throw fail()
    relay = createRelay(proxy, start.way, ownerOf(child, start.way))
  } catch (error) {
    await dispose()
    throw error
  } finally {
    stop.removeEventListener('abort', onStop)
  }
  const running = { child, relay, ending, complaint: () => complaint, memoryMax: start.memoryMax }
  let lastAccountId: string | undefined
  return {
    gone,
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
}
