import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { within } from '#shared/process/within.ts'
import { killGroup } from '#shared/process/kill-group.ts'
import { longestStartMs } from '#worker/protocol/protocol.ts'
import { keepStderr, readProcessorTicks, runningPid } from '#worker/isolation/processes.ts'
import { type Connection, connect, type Session } from './connection.ts'

/** A target of a browser, and the session attached to it. */
export type Target = { readonly id: string; readonly session: Session }

/** A page in its own context. */
export type BlankPage = Target & { readonly contextId: string }

/** Settings of a new context. */
export type BlankContext = {
  readonly proxy: string | undefined
  readonly prepare: (worker: Session) => void
}

type Opening = { readonly take: (target: Target) => void; readonly prepare: (worker: Session) => void }

/** Handles new targets of each context: the first page is kept, others are closed; service and shared workers run, and end with their context. */
const watchTargets = async ({ browser, findSession }: Connection): Promise<Map<string, Opening>> => {
  const contexts = new Map<string, Opening>()
  const opened = new Set<string>()
  browser.on('Target.attachedToTarget', ({ sessionId, targetInfo: { targetId, type, browserContextId = '' } }) => {
    const session = findSession(sessionId)
    const context = contexts.get(browserContextId)
    if (type === 'page' && context && !opened.has(browserContextId)) {
      opened.add(browserContextId)
      void session.closed.then(() => opened.delete(browserContextId) && contexts.delete(browserContextId))
      context.take({ id: targetId, session })
      return
    }
    if (type !== 'page') context?.prepare(session)
    // A paused target blocks all pages of its process.
    session.send('Runtime.runIfWaitingForDebugger').catch(() => {})
    if (type === 'page') browser.send('Target.closeTarget', { targetId }).catch(() => {})
  })
  await browser.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: true,
    flatten: true,
    filter: [{ type: 'page' }, { type: 'service_worker' }, { type: 'shared_worker' }],
  })
  return contexts
}

/** The first process of a browser. */
type Root = {
  readonly kill: () => void
  /** Processor time that it has used so far, in hundredths of a second. */
  readonly processorTicks: () => number
}

const controlBrowser = async (connection: Connection, root: Root) => {
  const { browser, findSession, ended } = connection
  const [{ product }, contexts] = await Promise.all([browser.send('Browser.getVersion'), watchTargets(connection)])
  return {
    /** Such as `156.0.8078.79`. */
    version: product.split('/')[1] ?? '',
    session: browser,
    /** Aborts once the browser has ended. */
    ended,
    /** The session of an attached target. */
    sessionOf: findSession,
    ...root,
    /**
     * Opens a page in a new context, with a separate proxy if given. Any other page that opens in the context is closed.
     * `prepare` is called for each service and shared worker before it runs.
     */
    openBlank: async ({ proxy, prepare }: BlankContext): Promise<BlankPage> => {
      const { browserContextId } = await browser.send('Target.createBrowserContext', {
        disposeOnDetach: true,
        ...(proxy !== undefined && { proxyServer: proxy, proxyBypassList: '<-loopback>' }),
      })
      const { promise: opening, resolve: take } = Promise.withResolvers<Target>()
      contexts.set(browserContextId, { take, prepare })
      await browser.send('Target.createTarget', { url: 'about:blank', browserContextId })
      return { ...(await opening), contextId: browserContextId }
    },
    /** Opens another session of the browser itself; its interceptions end with it, once `until` resolves. */
    attach: async (until: Promise<void>): Promise<Session> => {
      const { sessionId } = await browser.send('Target.attachToBrowserTarget')
      void until.then(() => browser.send('Target.detachFromTarget', { sessionId })).catch(() => {})
      return findSession(sessionId)
    },
  }
}

/** A running browser. */
export type Browser = Readonly<Awaited<ReturnType<typeof controlBrowser>>>

/** Starts Chromium with a temporary profile. Throws after at most `longestStartMs`, with the end of its standard error. */
export const launch = async (program: string, flagsFor: (profile: string) => string[]): Promise<Browser> => {
  const profile = await mkdtemp(join(tmpdir(), 'profile-'))
  const child = spawn(program, flagsFor(profile), {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  })
  const kill = () => {
    const pid = runningPid(child)
    if (pid !== undefined) killGroup(pid)
  }
  const processorTicks = () => readProcessorTicks(child.pid ?? 0)
  const stderr = keepStderr(child)
  const crashed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => reject(new Error(`the browser ended (${signal ?? code}): ${stderr()}`)))
  })
  crashed.catch(() => void rm(profile, { recursive: true, force: true }).catch(() => {}))
  const [to, from] = [child.stdio[3] as Writable, child.stdio[4] as Readable]
  // Child processes that outlive the browser may keep the pipe open.
  child.once('exit', () => from.destroy())
  try {
    const tooLate = () => new Error(`the browser did not start within ${longestStartMs} ms: ${stderr()}`)
    return await within(
      Promise.race([controlBrowser(connect(to, from), { kill, processorTicks }), crashed]),
      longestStartMs,
      tooLate,
    )
  } catch (error) {
    kill()
    throw error
  }
}
