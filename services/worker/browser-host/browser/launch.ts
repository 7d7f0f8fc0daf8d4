import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { within } from '#shared/process/within.ts'
import { killGroup } from '#shared/process/kill-group.ts'
import { keepStderr, runningPid } from '#worker/isolation/processes.ts'
import { type Connection, connect, type Session } from './connection.ts'

const launchMs = 20_000

/** A target of a browser, and what it is attached by. */
export type Target = { readonly id: string; readonly session: Session }

/** A page with a context of its own. */
export type BlankPage = Target & { readonly contextId: string }

/** What a context is opened with. */
export type BlankContext = {
  readonly proxy: string | undefined
  readonly prepare: (worker: Session) => void
}

/** Before a service worker's own script, and out of its reach: it is never installed, so that no page is served by one. */
const failInstall = `{
  const { apply } = Reflect
  const { waitUntil, stopImmediatePropagation } = ExtendableEvent.prototype
  const reject = Promise.reject.bind(Promise)
  addEventListener('install', (event) => {
    apply(stopImmediatePropagation, event, [])
    apply(waitUntil, event, [reject(new Error('service workers are not installed'))])
  })
}`

type Opening = { readonly take: (target: Target) => void; readonly prepare: (worker: Session) => void }

/** What a context may hold beside its page: further pages are closed, service workers fail to install, shared ones run. */
const watchTargets = async ({ browser, sessionOf }: Connection): Promise<Map<string, Opening>> => {
  const contexts = new Map<string, Opening>()
  const opened = new Set<string>()
  browser.on('Target.attachedToTarget', ({ sessionId, targetInfo: { targetId, type, browserContextId = '' } }) => {
    const session = sessionOf(sessionId)
    const context = contexts.get(browserContextId)
    if (type === 'page' && context && !opened.has(browserContextId)) {
      opened.add(browserContextId)
      void session.closed.then(() => opened.delete(browserContextId) && contexts.delete(browserContextId))
      context.take({ id: targetId, session })
      return
    }
    if (type === 'service_worker') session.send('Runtime.evaluate', { expression: failInstall }).catch(() => {})
    if (type !== 'page') context?.prepare(session)
    // What waits holds up all pages of its process.
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

const steer = async (connection: Connection, kill: () => void) => {
  const { browser, sessionOf, ended } = connection
  const [{ product }, contexts] = await Promise.all([browser.send('Browser.getVersion'), watchTargets(connection)])
  return {
    /** As Chromium counts, such as `156.0.8078.79`. */
    version: product.split('/')[1] ?? '',
    session: browser,
    /** Aborts once the browser is over. */
    ended,
    /** The session of a target that was attached to. */
    sessionOf,
    kill,
    /**
     * Opens a page in a new context, which has a proxy of its own where one is given. Any other page that opens in the context
     * is closed; `prepare` meets each worker that outlives a page before it runs.
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
    /** A further session of the browser itself, whose interceptions are its own and end once `until` has resolved. */
    attach: async (until: Promise<void>): Promise<Session> => {
      const { sessionId } = await browser.send('Target.attachToBrowserTarget')
      void until.then(() => browser.send('Target.detachFromTarget', { sessionId })).catch(() => {})
      return sessionOf(sessionId)
    },
  }
}

/** A browser that runs. */
export type Browser = Readonly<Awaited<ReturnType<typeof steer>>>

/** Starts Chromium with a profile that goes with it. Throws after at most twenty seconds, with the end of its standard error. */
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
  const stderr = keepStderr(child)
  const over = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => reject(new Error(`the browser ended (${signal ?? code}): ${stderr()}`)))
  })
  over.catch(() => void rm(profile, { recursive: true, force: true }).catch(() => {}))
  const [, , , to, from] = child.stdio as unknown as [null, null, Readable, Writable, Readable]
  // Processes that it leaves behind may keep the pipe open.
  child.once('exit', () => from.destroy())
  try {
    const tooLate = () => new Error(`the browser did not start within ${launchMs} ms: ${stderr()}`)
    return await within(Promise.race([steer(connect(to, from), kill), over]), launchMs, tooLate)
  } catch (error) {
    kill()
    throw error
  }
}
