import { setTimeout as delay } from 'node:timers/promises'
import { maskUrl } from '#shared/capture/mask-url.ts'
import { mediaTypes } from '#shared/capture/options.ts'
import { within } from '#shared/process/within.ts'
import type { Timings, Warning } from '#shared/queue/messages.ts'
import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import type { Shot, SizeBounds } from '#worker/browser-host/protocol.ts'
import type { Traffic } from '#worker/browser-host/traffic.ts'
import { extractMetadata } from './inspect/extract-metadata.ts'
import { findChallenge } from './inspect/find-challenge.ts'
import { isBlank } from './inspect/is-blank.ts'
import { assertDocument, goTo, timeoutError } from './load/navigate.ts'
import { awaitSelector } from './load/await-selector.ts'
import { interceptRequests } from './page/intercept-requests.ts'
import type { OpenPage } from './page/open-page.ts'
import { setCookies } from './page/set-cookies.ts'
import { waitUntil } from './page/wait-until.ts'
import { followNavigation } from './page/watch-document.ts'
import { runInOwnWorld } from './page/world.ts'
import type { CapturePlan, ImageOutput, PdfPage } from './plan/plan-capture.ts'
import { pixelsWithin, shareOf, type WaitingStage } from './plan/share-time.ts'
import { changePage, styleAgain } from './prepare/change-page.ts'
import { createHiding, type Hiding } from './prepare/hide-blocked.ts'
import { settle } from './prepare/settle.ts'
import { assertFits, encode } from './shoot/encode.ts'
import { pinBars } from './shoot/full-page.ts'
import { measure } from './shoot/measure.ts'
import { printPdf } from './shoot/print-pdf.ts'
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
  /** Waits for one stage and notes how long it took. */
  readonly time: <T>(stage: keyof Timings, work: Promise<T>) => Promise<T>
}

/** A capture under way. */
type Capture = CaptureBounds & {
  readonly open: OpenPage
  readonly plan: CapturePlan
  /** Milliseconds that a stage may take which begins now. */
  readonly share: (stage: WaitingStage) => number
}

/** A page as it is delivered. */
type Unhashed = Omit<Shot, 'sha256'>

type Picture = Pick<Shot, 'bytes' | 'width' | 'height' | 'warnings'>

/** A page without a request for this long is idle. */
const idleMs = 500

const loadPage = async ({ open, plan, traffic, blocker }: Capture): Promise<Warning[]> => {
  const { timeoutSeconds, waitForSelector } = plan
  const endsAt = performance.now() + timeoutSeconds * 1000
  await setCookies(open, plan.cookies, plan.source.url)
  const { refused } = await interceptRequests(open, { headers: plan.headers, refuses: blocker.refusesRequest })
  await Promise.race([goTo(open, plan, { traffic, blocker }), refused])
  if (waitForSelector !== undefined) {
    await awaitSelector(open, waitForSelector, { waitMs: endsAt - performance.now(), timeoutSeconds })
  }
  const isIdle = !plan.waitsForIdle || (await waitUntil(() => open.loads.idleMs() >= idleMs, endsAt))
  return isIdle ? [] : [warnings.busy]
}

/** Hides what is blocked, makes the caller's changes, and lets the delay pass. */
const changeLoadedPage = async ({ open, plan, share }: Capture, hiding: Hiding): Promise<Warning[]> => {
  await hiding.apply()
  const changed = await changePage(open, plan.changes, share('changes'))
  await delay(plan.delaySeconds * 1000)
  await followNavigation(open, performance.now() + share('navigation'))
  if (plan.delaySeconds > 0 || Object.values(plan.changes).some((each) => each !== undefined && each.length > 0))
    await hiding.apply()
  return [...changed, ...(await styleAgain(open, plan.changes))]
}

/** Does what lies between the load and the shot. */
const prepare = async (capture: Capture): Promise<Warning[]> => {
  const { open, plan, time, share, heightMax } = capture
  const hiding = createHiding(open, capture.blocker, { script: capture.consentScript, waitMs: () => share('consent') })
  const changed = await time('prepare', changeLoadedPage(capture, hiding))
  const images = await time('settle', settle(open, plan.subject, { heightMax, waitMs: share('settle') }))
  const left = await hiding.finish()
  return [...changed, ...left, ...(images > 0 ? [warnings.undecoded(images)] : [])]
}

/** Finds a challenge and reads the metadata. */
const inspect = async ({ open, plan, share }: Capture) => {
  const waitMs = share('inspect')
  const vendor = await findChallenge(open)
  const metadata = plan.extractsMetadata ? await extractMetadata(open, waitMs) : undefined
  const isUnread = plan.extractsMetadata && metadata === undefined
  const seen = [
    ...(vendor === undefined ? [] : [warnings.challenged(vendor)]),
    ...(isUnread ? [warnings.metadataUnread] : []),
  ]
  return { metadata, seen }
}

/** Time in which a page that shows nothing may come to show something. */
const secondLookMs = 500

/** Finds the subject, shoots it and encodes it. An image of a single colour is taken once more. */
const takeImage = async (
  { open, plan, traffic, time, heightMax, pixelsMax }: Capture,
  output: ImageOutput,
): Promise<Picture> => {
  const { emulation, subject } = plan
  const { scale } = emulation
  const sizes = { heightMax, pixelsMax: pixelsWithin(output, pixelsMax) }
  const { frame, isTruncated, zoom } = await measure(open, subject, emulation, sizes)
  const size = { width: Math.round(frame.width * zoom * scale), height: Math.round(frame.height * zoom * scale) }
  assertFits(output, size)
  // A page that goes on to another document meanwhile is shot as it is.
  if (subject.kind === 'full-page') await runInOwnWorld(open, pinBars(frame.height)).catch(() => {})
  const take = async () => {
    const picture = await time('shoot', shoot(open, { frame, zoom, subject, output }))
    assertDocument(open, traffic)
    const isEmpty = await time('inspect', isBlank(picture))
    return { picture, isEmpty }
  }
  let taken = await take()
  if (taken.isEmpty) {
    await delay(secondLookMs)
    taken = await take()
  }
  const seen = [...(isTruncated ? [warnings.truncated(frame)] : []), ...(taken.isEmpty ? [warnings.blank] : [])]
  const image = await time('encode', encode(taken.picture, output, size))
  return { ...image, warnings: seen }
}

const takePdf = async (capture: Capture, page: PdfPage): Promise<Picture> => {
  const { open, plan, time, traffic } = capture
  const { frame, ...pdf } = await time('shoot', printPdf(open, { plan, page }, capture))
  assertDocument(open, traffic)
  return { ...pdf, warnings: frame ? [warnings.truncated(frame)] : [] }
}

const render = async (capture: Capture): Promise<Unhashed> => {
  const { open, plan, time } = capture
  const { output } = plan
  const before = await prepare(capture)
  const { metadata, seen } = await time('inspect', inspect(capture))
  const picture = await (output.kind === 'pdf' ? takePdf(capture, output.page) : takeImage(capture, output))
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
 * Takes one capture in a page that was opened for it: load, prepare, inspect, shoot, encode. Throws the `AppError` that
 * the record shows, or whatever the browser threw where it went away.
 */
export const runCapture = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Unhashed> => {
  const { pixelsMax } = bounds
  const share = (stage: WaitingStage) => shareOf(plan, stage, { leftMs: bounds.endsAt - performance.now(), pixelsMax })
  const capture = { ...bounds, open, plan, share }
  const broken = [open.crashed, open.document.cutOff, bounds.traffic.cutShort]
  const early = await bounds.time('navigate', Promise.race([loadPage(capture), ...broken]))
  bounds.loaded()
  const late = () => timeoutError(true, plan.timeoutSeconds)
  const shot = await within(Promise.race([render(capture), ...broken]), bounds.endsAt - performance.now(), late)
  return { ...shot, warnings: [...early, ...shot.warnings] }
}
