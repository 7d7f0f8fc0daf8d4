import { maskUrl } from '#shared/capture/mask-url.ts'
import { mediaTypes } from '#shared/capture/options.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { Timings, Warning } from '#shared/queue/messages.ts'
import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import type { Shot } from '#worker/browser-host/protocol.ts'
import type { Traffic } from '#worker/browser-host/traffic.ts'
import { extractMetadata } from './inspect/extract-metadata.ts'
import { findChallenge } from './inspect/find-challenge.ts'
import { isBlank } from './inspect/is-blank.ts'
import { assertDocument, goTo } from './load/navigate.ts'
import { awaitSelector, awaitIdle } from './load/wait-conditions.ts'
import { interceptRequests } from './page/intercept-requests.ts'
import type { OpenPage } from './page/open-page.ts'
import { setCookies } from './page/set-cookies.ts'
import { followNavigation } from './page/watch-document.ts'
import { runInOwnWorld } from './page/world.ts'
import type { CapturePlan, ImageOutput, PdfPage } from './plan/plan-capture.ts'
import { pixelsWithin, shareOf, type WaitingStage } from './plan/share-time.ts'
import { changePage, styleAgain } from './prepare/change-page.ts'
import { createHiding, type Hiding } from './prepare/hide-blocked.ts'
import { settle } from './prepare/settle.ts'
import { assertFits, encode } from './shoot/encode.ts'
import { pinBars } from './shoot/full-page.ts'
import { type SizeBounds, measure } from './shoot/measure.ts'
import { printPages } from './shoot/print-pdf.ts'
import { shoot } from './shoot/shoot.ts'
import * as warnings from './warnings.ts'

/** What a capture needs beside its page and its plan. */
export type CaptureBounds = SizeBounds & {
  readonly traffic: Traffic
  readonly blocker: Blocker
  readonly consentScript: ConsentScript
  /** When the capture must have ended, on `performance`'s clock: what loading leaves of it is for all that follows. */
  readonly endsAt: number
  /** Called once the page has loaded: what fails from here on is not a time-out. */
  readonly loaded: () => void
  /** Takes the milliseconds of each stage as it ends. */
  readonly timed: (stage: keyof Timings, stageMs: number) => void
}

/** Waits for one stage and notes how long it took. */
export const timing =
  ({ timed }: Pick<CaptureBounds, 'timed'>) =>
  async <T>(stage: keyof Timings, work: Promise<T>): Promise<T> => {
    const began = performance.now()
    try {
      return await work
    } finally {
      timed(stage, Math.round(performance.now() - began))
    }
  }

/** What was made of a page. */
export type Picture = Pick<Shot, 'bytes' | 'width' | 'height'> & { readonly warnings: readonly Warning[] }

/** Time in which a page that shows nothing may come to show something. */
const secondLookMs = 500

const takeImage = async (
  open: OpenPage,
  plan: CapturePlan,
  output: ImageOutput,
  bounds: CaptureBounds,
): Promise<Picture> => {
  const time = timing(bounds)
  const { scale } = plan.emulation
  const sizes = { ...bounds, pixelsMax: pixelsWithin(output, bounds.pixelsMax) }
  const { frame, isTruncated, zoom } = await measure(open, plan.subject, plan.emulation, sizes)
  const size = { width: Math.round(frame.width * zoom * scale), height: Math.round(frame.height * zoom * scale) }
  assertFits(output, size)
  // A page that goes on to another document meanwhile is shot as it is.
  if (plan.subject.kind === 'full-page') await runInOwnWorld(open, pinBars(frame.height)).catch(() => {})
  const take = async () => {
    const picture = await time('shoot', shoot(open, { frame, zoom, subject: plan.subject, output }))
    assertDocument(open, bounds.traffic)
    const isEmpty = await time('inspect', isBlank(picture))
    return { picture, isEmpty }
  }
  let taken = await take()
  if (taken.isEmpty) {
    await new Promise((wake) => setTimeout(wake, secondLookMs))
    taken = await take()
  }
  const seen = [...(isTruncated ? [warnings.truncated(frame)] : []), ...(taken.isEmpty ? [warnings.blank] : [])]
  const image = await time('encode', encode(taken.picture, output, size))
  return { ...image, warnings: seen }
}

const takePdf = async (open: OpenPage, plan: CapturePlan, page: PdfPage, bounds: CaptureBounds): Promise<Picture> => {
  const { bytes, size, frame } = await timing(bounds)('shoot', printPages(open, { plan, page }, bounds))
  assertDocument(open, bounds.traffic)
  return { bytes, ...size, warnings: frame ? [warnings.truncated(frame)] : [] }
}

/** Finds the subject of a capture, shoots it and encodes it. An image of a single colour is taken once more. */
export const takePicture = (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Picture> =>
  plan.output.kind === 'pdf'
    ? takePdf(open, plan, plan.output.page, bounds)
    : takeImage(open, plan, plan.output, bounds)

/** What is delivered of a page. */
type Unhashed = Omit<Shot, 'sha256'>

const loadPage = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Warning[]> => {
  const { timeoutSeconds, waitForSelector } = plan
  const endsAt = performance.now() + timeoutSeconds * 1000
  await setCookies(open, plan.cookies, plan.source.url)
  const { refused } = await interceptRequests(open, { headers: plan.headers, refuses: bounds.blocker.refusesRequest })
  await Promise.race([goTo(open, plan, bounds), refused])
  if (waitForSelector !== undefined) {
    await awaitSelector(open, waitForSelector, { waitMs: endsAt - performance.now(), timeoutSeconds })
  }
  return plan.waitsForIdle && !(await awaitIdle(open, endsAt)) ? [warnings.busy] : []
}

/** Milliseconds that a stage may take which begins now. */
type Shares = { readonly share: (stage: WaitingStage) => number }

/** What is hidden, what the caller wants changed in the page that has loaded, and the delay. */
const change = async (open: OpenPage, plan: CapturePlan, hiding: Hiding, { share }: Shares): Promise<Warning[]> => {
  await hiding.apply()
  const changed = await changePage(open, plan.changes, share('changes'))
  await new Promise((wake) => setTimeout(wake, plan.delaySeconds * 1000))
  await followNavigation(open, performance.now() + share('navigation'))
  if (plan.delaySeconds > 0 || Object.values(plan.changes).some((each) => each !== undefined && each.length > 0))
    await hiding.apply()
  return [...changed, ...(await styleAgain(open, plan.changes))]
}

/** What is done between the load and the shot. */
const prepare = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds & Shares): Promise<Warning[]> => {
  const time = timing(bounds)
  const { share } = bounds
  const hiding = createHiding(open, bounds.blocker, { script: bounds.consentScript, waitMs: () => share('consent') })
  const changed = await time('prepare', change(open, plan, hiding, bounds))
  const settling = { heightMax: bounds.heightMax, waitMs: share('settle') }
  const images = await time('settle', settle(open, plan.subject, settling))
  const left = await hiding.finish()
  return [...changed, ...left, ...(images > 0 ? [warnings.undecoded(images)] : [])]
}

/** What the page says that is not in its picture. */
const inspect = async (open: OpenPage, plan: CapturePlan, waitMs: number) => {
  const vendor = await findChallenge(open)
  const metadata = plan.extractsMetadata ? await extractMetadata(open, waitMs) : undefined
  const isUnread = plan.extractsMetadata && metadata === undefined
  const seen = [
    ...(vendor === undefined ? [] : [warnings.challenged(vendor)]),
    ...(isUnread ? [warnings.metadataUnread] : []),
  ]
  return { metadata, seen }
}

const render = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Unhashed> => {
  const { output } = plan
  const share = (stage: WaitingStage) =>
    shareOf(plan, stage, { leftMs: bounds.endsAt - performance.now(), pixelsMax: bounds.pixelsMax })
  const before = await prepare(open, plan, { ...bounds, share })
  const { metadata, seen } = await timing(bounds)('inspect', inspect(open, plan, share('inspect')))
  const picture = await takePicture(open, plan, bounds)
  const finalUrl = open.document.address()
  return {
    ...picture,
    mimeType: mediaTypes[output.kind === 'pdf' ? 'pdf' : output.format],
    targetStatus: open.document.requested().status,
    // Masked here: from here on it travels and is stored in the clear.
    finalUrl: /^https?:/.test(finalUrl) ? maskUrl(finalUrl) : undefined,
    warnings: [...before, ...seen, ...picture.warnings],
    metadata,
  }
}

/**
 * Takes one capture in a page that was opened for it: load, prepare, find the subject, shoot, encode. Throws the
 * `AppError` that the record shows, or whatever the browser threw where it went away.
 */
export const runCapture = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Unhashed> => {
  const broken = [open.crashed, open.document.cutOff, bounds.traffic.cutShort]
  const early = await timing(bounds)('navigate', Promise.race([loadPage(open, plan, bounds), ...broken]))
  bounds.loaded()
  const late = () => new AppError('RENDER_ERROR', { publicMessage: 'The page stopped responding after it had loaded.' })
  const leftMs = bounds.endsAt - performance.now()
  const shot = await within(Promise.race([render(open, plan, bounds), ...broken]), leftMs, late)
  return { ...shot, warnings: [...early, ...shot.warnings] }
}
