import { setImmediate } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import type { Warning } from '#shared/capture/result-details.ts'
import { succeeds } from '#shared/process/succeeds.ts'
import { within } from '#shared/process/within.ts'
import type { Blocker, InterceptedRequest } from '#worker/browser-host/blocking/blocker.ts'
import { createRefusal } from '#worker/browser-host/blocking/refuse-requests.ts'
import { interceptRequests } from '#worker/browser-host/capture/page/intercept-requests.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { setCookies } from '#worker/browser-host/capture/page/set-cookies.ts'
import { setStorage } from '#worker/browser-host/capture/page/set-storage.ts'
import { waitUntil } from '#worker/browser-host/capture/page/wait-until.ts'
import { followRefreshes } from '#worker/browser-host/capture/page/watch-document.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { awaitFunction, awaitHidden, awaitSelector } from './await-selector.ts'
import { assertDocument, goTo, navigate, timeoutError } from './navigate.ts'
import type { Traffic } from './traffic.ts'

/** A page is idle after this long without requests. */
const idleMs = 500

/** Longest wait for a page whose loading was stopped: for its load event, and for a response of its renderer. */
const stoppedMs = 1000

/** The picture may lack content that was still loading. */
const networkBusy: Warning = {
  code: 'network_busy',
  message: 'The page was still making requests when its timeout elapsed.',
}

/** The picture lacks what had not come. */
const loadUnfinished = (unmet: string): Warning => ({
  code: 'load_unfinished',
  message: `${unmet} The page was captured as it was.`,
})

type Loading = {
  readonly open: OpenPage
  readonly plan: CapturePlan
  readonly traffic: Traffic
  readonly blocker: Blocker
}

/** Prepares the page for its source. `refused` rejects if the browser refuses a header of the caller. */
const setUp = async ({ open, plan, blocker }: Loading) => {
  await setCookies(open, plan.cookies, plan.source.url)
  const keepStorage = await setStorage(open, plan)
  const unwanted = createRefusal(plan.refuses, open.mainFrameId)
  const { refusesRequest } = blocker
  const either = (request: InterceptedRequest) => unwanted?.(request) === true || refusesRequest?.(request) === true
  const refuses = (unwanted ?? refusesRequest) ? either : undefined
  const intercepted = await interceptRequests(open, { headers: plan.headers, refuses })
  // The requests of a document that was there before are not intercepted.
  if (refuses && plan.source.url === undefined) await open.session.send('Page.navigate', { url: 'about:blank' })
  return { ...intercepted, keepStorage }
}

/**
 * Stops what a page still loads, so that a style sheet or script that never arrives does not keep it from being drawn. Returns
 * whether a document is there, and its renderer responds.
 */
const stopLoading = async ({ open, plan }: Loading): Promise<boolean> => {
  const { session, document } = open
  if (plan.source.url !== undefined && document.address() === 'about:blank') return false
  const late = () => new Error('the page did not respond')
  await succeeds(within(session.send('Page.stopLoading'), stoppedMs, late))
  await succeeds(within(document.loaded(), stoppedMs, late))
  return await succeeds(within(runInMainFrame(open, '0'), stoppedMs, late))
}

/** The part of a time-out that a record shows, if `error` is one; undefined for other errors. */
const unmetBy = (error: unknown): string | undefined =>
  error instanceof AppError && error.code === 'TIMEOUT' ? error.publicMessage : undefined

/** Waits for what the request names, until `endsAt`. */
const awaitConditions = async ({ open, plan }: Loading, endsAt: number): Promise<void> => {
  const { timeoutSeconds, waitForSelector, waitForHidden, waitForFunction } = plan
  const bounds = () => ({ waitMs: endsAt - performance.now(), timeoutSeconds })
  if (waitForSelector !== undefined) await awaitSelector(open, waitForSelector, bounds())
  if (waitForHidden !== undefined) await awaitHidden(open, waitForHidden, bounds())
  if (waitForFunction !== undefined) await awaitFunction(open, waitForFunction, bounds())
}

/** Loads the source of a capture and waits for what its request names, within its `timeout`. Throws the error for the record. */
export const loadPage = async (loading: Loading): Promise<Warning[]> => {
  const { open, plan, traffic, blocker } = loading
  const { timeoutSeconds, capturesUnfinished, waitsForIdle } = plan
  const endsAt = performance.now() + timeoutSeconds * 1000
  const late = () => timeoutError(false, timeoutSeconds)
  const { refused, keepStorage } = await within(setUp(loading), timeoutSeconds * 1000, late)
  try {
    await Promise.race([goTo(open, plan, { traffic, blocker }, navigate), refused])
  } catch (error) {
    const unmet = unmetBy(error)
    const isWanted = unmet !== undefined && (capturesUnfinished || waitsForIdle)
    if (!isWanted || !(await stopLoading(loading))) throw error
    assertDocument(open, traffic)
    await keepStorage()
    return [loadUnfinished(unmet)]
  }
  await keepStorage()
  // A refresh is reported right after the load event.
  await setImmediate()
  await followRefreshes(open, endsAt)
  try {
    await awaitConditions(loading, endsAt)
  } catch (error) {
    const unmet = unmetBy(error)
    if (unmet === undefined || !capturesUnfinished) throw error
    return [loadUnfinished(unmet)]
  }
  const isIdle = !waitsForIdle || (await waitUntil(() => open.loads.idleMs() >= idleMs, endsAt))
  return isIdle ? [] : [networkBusy]
}
