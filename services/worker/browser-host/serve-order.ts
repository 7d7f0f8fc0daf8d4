import { hash } from 'node:crypto'
import { openMs } from '#shared/capture/budget.ts'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import { AppError, errorToCaptureCode } from '#shared/errors/app-error.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import { within } from '#shared/process/within.ts'
import type { Timings } from '#shared/queue/messages.ts'
import { anonymousBytesOf } from '#worker/isolation/processes.ts'
import { createBlocker, type BlockEngine } from './blocking/blocker.ts'
import type { ConsentScript } from './blocking/consent-script.ts'
import type { Browser } from './browser/launch.ts'
import { planCapture } from './capture/plan/plan-capture.ts'
import { runCapture } from './capture/run-capture.ts'
import { boundOutcome, detailOf } from './outcome.ts'
import type { PageSupply } from './page-supply.ts'
import type { DueOrder, Fault, HostReport, HostSettings, Outcome } from './protocol.ts'
import type { ConnectionReviewer } from './traffic.ts'

type Host = {
  readonly pages: PageSupply
  readonly reviewer: Pick<ConnectionReviewer, 'begin'>
  readonly settings: Pick<HostSettings, 'browsers' | 'heightMax' | 'pixelsMax' | 'recycleBytes'>
  readonly engines: readonly BlockEngine[]
  readonly consentScript: ConsentScript
  /** Resolves once the supervisor has it, or is gone. */
  readonly report: (report: HostReport) => Promise<void>
}

/** A browser that is busy with a hostile page is not waited for any longer. */
const answerMs = 1000

/** After these the renderer may still be busy with whatever went wrong. */
const spoiling: readonly CaptureErrorCode[] = ['TIMEOUT', 'RENDER_ERROR']

const failed = (thrown: unknown, timings: Partial<Timings>): Outcome & { outcome: 'failed' } => {
  const error =
    thrown instanceof AppError ? thrown : new AppError('RENDER_ERROR', { message: 'browser', cause: thrown })
  const code = errorToCaptureCode(error)
  return { outcome: 'failed', code, message: error.publicMessage, detail: detailOf(error), timings }
}

/**
 * Whether the browser is gone under a page that failed. A renderer that was killed together with its browser crashes
 * first: a request to the browser settles only once its end is known.
 */
const isGone = async ({ session, ended }: Browser): Promise<boolean> => {
  const late = () => new Error('the browser did not answer')
  await within(session.send('Browser.getVersion'), answerMs, late).catch(() => {})
  return ended.aborted
}

/** The gateway accepts no such capture unless its settings name such a browser. */
const missing = (browser: BrowserKind) =>
  new AppError('JOB_FAILED', {
    message: `no ${browser} browser on this worker`,
    publicMessage: 'The worker does not have the browser that the capture needs.',
  })

/** How one order ended; its page is released once that is reported. */
type Tried = { readonly outcome: Outcome; readonly release: () => void }

const tryOrder = async (host: Host, order: DueOrder): Promise<Tried> => {
  const timings: Partial<Timings> = {}
  const began = performance.now()
  const { id, options, leftMs } = order
  const endsAt = began + leftMs
  const { consentScript } = host
  const plan = planCapture(options)
  if (host.settings.browsers.binaries[plan.emulation.browser] === undefined) {
    return { outcome: failed(missing(plan.emulation.browser), timings), release: () => {} }
  }
  const tooLate = () => new Error(`no page opened within ${openMs} ms`)
  // What it throws ends the host: it has met nothing of the order's page, which is handed back.
  const open = await within(host.pages.acquire(plan.emulation, order.isOtherAccounts), openMs, tooLate)
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
      return { outcome: 'completed', shot: { ...shot, sha256: hash('sha256', shot.bytes) }, timings }
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
  const isTainted = outcome.outcome === 'failed' && spoiling.includes(outcome.code)
  const release = () =>
    host.pages.release(open, isTainted || anonymousBytesOf(process.pid) > host.settings.recycleBytes)
  const interruption = traffic.interruption()
  if (interruption !== undefined) return { outcome: interrupted(interruption), release }
  if (outcome.outcome === 'failed' && outcome.code === 'RENDER_ERROR' && (await isGone(open.browser))) {
    return { outcome: interrupted({ by: 'browser', detail: 'the browser ended' }), release }
  }
  return { outcome, release }
}

/** Serves one order and reports how it ended. */
export const serveOrder = async (host: Host, order: DueOrder): Promise<void> => {
  const { outcome, release } = await tryOrder(host, order)
  await host.report({ kind: 'ended', id: order.id, outcome: boundOutcome(outcome) })
  release()
}
