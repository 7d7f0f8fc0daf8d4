import { AppError } from '#shared/errors/app-error.ts'
import type { Blame } from '#shared/errors/catalog.ts'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import type { BlankPage, Browser } from '#worker/browser-host/browser/launch.ts'
import type { Emulation } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { emulate, emulateIdentity, emulateSize, isWindow, shapeWindow } from './emulate.ts'
import { MainDocument } from './watch-document.ts'
import { watchLoads } from './watch-loads.ts'

/** Later dialogs are left open: a page that opens them without end waits for nothing from then on. */
const dialogsMax = 500

/** Further frames of other sites get no emulation and no styles. */
const framesMax = 100

/** Dismisses the dialogs of one process's frames, as each process reports only its own; those before it is left are confirmed. */
const dismissDialogs = async (session: Session): Promise<void> => {
  let dialogs = 0
  session.on('Page.javascriptDialogOpening', ({ type }) => {
    dialogs += 1
    if (dialogs <= dialogsMax)
      session.send('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' }).catch(() => {})
  })
  await session.send('Page.enable')
}

/** Rejects with `RENDER_ERROR` once the renderer crashes or the page is closed; never resolves. */
const watchCrash = (session: Session): Promise<never> => {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const fail = (publicMessage: string, blame: Blame) => reject(new AppError('RENDER_ERROR', { publicMessage, blame }))
  // A fault of Chromium crashes it too.
  session.on('Inspector.targetCrashed', () => fail('The page crashed the renderer.', 'service'))
  void session.closed.then(() => fail('The page closed itself.', 'target'))
  return promise
}

/** Pauses new workers and frames of other sites until their emulation is set, and what observes them has begun. */
const attachChildTargets = async (browser: Browser, page: Session, emulation: Emulation) => {
  const frames: Session[] = []
  const observers: ((session: Session) => void)[] = []
  const watch = (session: Session): Promise<void> => {
    session.on('Target.attachedToTarget', ({ sessionId, targetInfo: { type } }) => {
      const attached = browser.sessionOf(sessionId)
      const steps = [watch(attached)]
      if (type !== 'iframe') steps.push(emulateIdentity(browser, attached, emulation))
      else if (frames.length < framesMax) {
        frames.push(attached)
        steps.push(dismissDialogs(attached), emulate(browser, attached, emulation))
      }
      for (const step of steps) step.catch(() => {})
      for (const observe of observers) observe(attached)
      attached.send('Runtime.runIfWaitingForDebugger').catch(() => {})
    })
    return session.send('Target.setAutoAttach', {
      autoAttach: true,
      waitForDebuggerOnStart: true,
      flatten: true,
      filter: [{ type: 'iframe' }, { type: 'worker' }],
    })
  }
  await watch(page)
  return {
    /** The sessions of frames of other sites. */
    frames: () => frames.filter((frame) => frame.isOpen()),
    /** Calls `observe` with the session of each later frame of another site and each later worker, before it runs. */
    observeTargets: (observe: (session: Session) => void) => void observers.push(observe),
  }
}

const denyDownloads = ({ session }: Browser, browserContextId: string) =>
  session.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId })

const grantLocation = ({ session }: Browser, browserContextId: string) =>
  session.send('Browser.grantPermissions', { permissions: ['geolocation'], browserContextId })

const setUpPage = async (browser: Browser, { session, id, contextId }: BlankPage, emulation: Emulation) => {
  const crashed = watchCrash(session)
  // The main frame has the id of the page's target.
  const document = new MainDocument(session, id)
  const loads = watchLoads(session, id)
  const [{ frames, observeTargets }] = await Promise.all([
    attachChildTargets(browser, session, emulation),
    dismissDialogs(session),
    session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
    session.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }),
    session.send('Inspector.enable'),
    session.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
    emulateSize(session, emulation),
    emulate(browser, session, emulation),
    denyDownloads(browser, contextId),
    ...(emulation.geolocation ? [grantLocation(browser, contextId)] : []),
    ...(isWindow(emulation) ? [shapeWindow(session, emulation)] : []),
    session.send('Runtime.runIfWaitingForDebugger'),
  ])
  /** The page's session and those of frames in other processes. */
  const frameSessions = (): readonly Session[] => [session, ...frames()]
  return { crashed, document, loads, frameSessions, observeTargets }
}

/** Opens the page of a capture, in a new context. Grants no permission except geolocation, if a location is given. */
export const openPage = async (browser: Browser, emulation: Emulation, proxy: string) => {
  const blank = await browser.openBlank({
    // Headless-shell has the proxy in its flags.
    proxy: emulation.browser === 'full' ? proxy : undefined,
    prepare: (worker) => void emulateIdentity(browser, worker, emulation).catch(() => {}),
  })
  const { session, id, contextId } = blank
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  return {
    browser,
    emulation,
    contextId,
    session,
    mainFrameId: id,
    ...(await setUpPage(browser, blank, emulation)),
    /** Disposes of the context and all its targets. */
    close: async (): Promise<void> => {
      await browser.session.send('Target.disposeBrowserContext', { browserContextId: contextId })
      resolve()
    },
    /** Resolves once the context is gone. */
    closed,
  }
}

/** A new context with its only page, and what was observed of the page. */
export type OpenPage = Readonly<Awaited<ReturnType<typeof openPage>>>
