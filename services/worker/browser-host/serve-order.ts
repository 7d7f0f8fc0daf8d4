import { openMs, requestedWaitMs } from '#shared/capture/budget.ts'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import { AppError, errorToCaptureCode } from '#shared/errors/app-error.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import { StallWatch } from '#shared/config/stalls.ts'
import { succeeds } from '#shared/process/succeeds.ts'
import { within } from '#shared/process/within.ts'
import type { Timings } from '#shared/queue/messages.ts'
import { readAnonymousBytes } from '#worker/isolation/processes.ts'
import { createBlocker, type BlockEngine } from './blocking/blocker.ts'
import type { ConsentScript } from './blocking/consent-script.ts'
import type { Browser } from './browser/launch.ts'
import { planCapture } from './capture/plan/plan-capture.ts'
import { runCapture } from './capture/run-capture.ts'
import { truncateOutcome, formatDetail } from './outcome.ts'
import type { PageSupply } from './page-supply.ts'
import {
  type DueOrder,
  excuseStalls,
  type Fault,
  type HostReport,
  type HostSettings,
  type Outcome,
} from '#worker/protocol/protocol.ts'
import type { ConnectionReviewer } from './capture/load/traffic.ts'

type Host = {
  readonly pages: PageSupply
  readonly reviewer: Pick<ConnectionReviewer, 'begin'>
  readonly settings: Pick<HostSettings, 'browsers' | 'heightMax' | 'pixelsMax' | 'recycleBytes'>
  readonly engines: readonly BlockEngine[]
  readonly consentScript: ConsentScript
  /** Resolves once the report is written to the pipe. */
  readonly report: (report: HostReport) => Promise<void>
}

/** Longest wait for a response of the browser; over before the host is killed, at `endsBeforeMs.browser`. */
const responseMs = 1000

/** Errors after which the renderer may still be busy with the failed page. */
const taintingCodes: readonly CaptureErrorCode[] = ['TIMEOUT', 'RENDER_ERROR']

const failed = (thrown: unknown, timings: Partial<Timings>): Outcome & { outcome: 'failed' } => {
  const error =
    thrown instanceof AppError ? thrown : new AppError('RENDER_ERROR', { message: 'browser', cause: thrown })
  const code = errorToCaptureCode(error)
  const { publicMessage: message, blame } = error
  return { outcome: 'failed', code, message, blame, detail: formatDetail(error), timings }
}

/**
 * What befell the browser of a page that failed, unless the page may be the cause. If both are killed, the renderer's crash is
 * reported first; a request to the browser settles only after the browser's end is known. A hostile page can keep the browser
 * from responding, but not without processor time.
 */
const findFault = async ({ session, ended, processorTicks }: Browser): Promise<string | undefined> => {
  const before = processorTicks()
  const late = () => new Error('the browser did not respond')
  const responds = await succeeds(within(session.send('Browser.getVersion'), responseMs, late))
  if (ended.aborted) return 'the browser ended'
  return responds || processorTicks() > before ? undefined : `the browser did not run for ${responseMs} ms`
}

/** Only if the gateway's settings name a browser that this worker does not have. */
const missingBrowser = (browser: BrowserKind) =>
  new AppError('JOB_FAILED', {
    message: `no ${browser} browser on this worker`,
    publicMessage: 'The worker does not have the browser that the capture needs.',
  })

/** The outcome of one order; call `release` after reporting it. */
type ServedOrder = { readonly outcome: Outcome; readonly release: () => void }

const runOrder = async (host: Host, order: DueOrder): Promise<ServedOrder> => {
  const timings: Partial<Timings> = {}
  using stalls = new StallWatch()
  const began = performance.now()
  const { id, options, leftMs } = order
  const endsAt = began + leftMs
  const { consentScript } = host
  const plan = planCapture(options)
  if (host.settings.browsers.binaries[plan.emulation.browser] === undefined) {
    return { outcome: failed(missingBrowser(plan.emulation.browser), timings), release: () => {} }
  }
  // More than `openMs` only in a warm-up.
  const openingMs = Math.max(openMs, leftMs - options.timeout * 1000 - requestedWaitMs(options))
  const tooLate = () => new Error(`no page opened within ${openingMs} ms`)
  // An error ends the host: no content was loaded yet, so the order is handed back.
  const open = await within(host.pages.acquire(plan.emulation), openingMs, tooLate)
  timings.open = Math.round(performance.now() - began)
  void host.report({ kind: 'opened', id })
  let isLoaded = false
  const address = () => open.document.requested().url
  const blocker = createBlocker(host.engines, plan, { address, mainFrameId: open.mainFrameId })
  using traffic = host.reviewer.begin({ blocks: blocker.refusesHost })
  const loaded = () => {
    isLoaded = true
    void host.report({ kind: 'loaded', id })
  }
  const time = async <T>(stage: keyof Timings, work: Promise<T>): Promise<T> => {
    const stageBegan = performance.now()
    try {
      return await work
    } finally {
      timings[stage] = (timings[stage] ?? 0) + Math.round(performance.now() - stageBegan)
    }
  }
  const run = async (): Promise<Outcome> => {
    try {
      const shot = await runCapture(open, plan, {
        ...host.settings,
        consentScript,
        blocker,
        traffic,
        endsAt,
        loaded,
        time,
      })
      return { outcome: 'completed', shot, timings }
    } catch (thrown) {
      return failed(thrown, timings)
    }
  }
  const outcome = await run()
  const interrupted = ({ by, detail }: { by: Fault; detail: string }): Outcome => ({
    outcome: 'interrupted',
    by,
    isLoaded,
    detail,
    timings,
  })
  const isTainted = outcome.outcome === 'failed' && taintingCodes.includes(outcome.code)
  const release = () =>
    host.pages.release(open, isTainted || readAnonymousBytes(process.pid) > host.settings.recycleBytes)
  const interruption = traffic.interruption()
  if (interruption !== undefined) return { outcome: interrupted(interruption), release }
  const fault = isTainted ? await findFault(open.browser) : undefined
  if (fault !== undefined) return { outcome: interrupted({ by: 'browser', detail: fault }), release }
  const stall = { stalledMs: stalls.stalledMs, timeoutSeconds: options.timeout, isLoaded }
  return { outcome: excuseStalls(outcome, stall), release }
}

/** Serves one order and reports its outcome. */
export const serveOrder = async (host: Host, order: DueOrder): Promise<void> => {
  const { outcome, release } = await runOrder(host, order)
  await host.report({ kind: 'ended', id: order.id, outcome: truncateOutcome(outcome) })
  release()
}
