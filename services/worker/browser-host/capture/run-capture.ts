import { setTimeout as delay } from 'node:timers/promises'
import { maskUrl } from '#shared/capture/mask-url.ts'
import { mediaTypes } from '#shared/capture/options.ts'
import { within } from '#shared/process/within.ts'
import type { Warning } from '#shared/capture/result-details.ts'
import type { Timings } from '#shared/queue/messages.ts'
import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import type { Shot, SizeBounds } from '#worker/protocol/protocol.ts'
import type { Traffic } from './load/traffic.ts'
import { assertWanted } from './inspect/assert-wanted.ts'
import { extractMetadata } from './inspect/extract-metadata.ts'
import { findChallenge } from './inspect/find-challenge.ts'
import { isBlank } from './inspect/is-blank.ts'
import { readOutputs } from './inspect/read-outputs.ts'
import { joinFiles, type Rendition } from './join-files.ts'
import { loadPage } from './load/load-page.ts'
import { assertDocument, timeoutError } from './load/navigate.ts'
import type { OpenPage } from './page/open-page.ts'
import { followNavigation, followRefreshes } from './page/watch-document.ts'
import { runInMainFrame } from './page/world.ts'
import type { CapturePlan, ImageOutput, PdfOutput, Subject } from './plan/plan-capture.ts'
import { pixelsWithin, stageShareMs, type WaitingStage } from './plan/share-time.ts'
import { type PageLog, recordPage } from './record/page-log.ts'
import { changePage, reapplyStyle } from './prepare/change-page.ts'
import { createHider, type Hider } from './prepare/hide-blocked.ts'
import { finishAnimations } from './page/finish-animations.ts'
import { runActions } from './prepare/run-actions.ts'
import { outlastLoader } from './prepare/loaders.ts'
import { settle, type Settled } from './prepare/settle.ts'
import { settleTall } from './prepare/settle-tall.ts'
import { assertFits, encode } from './shoot/encode.ts'
import { arrangeBars } from './shoot/full-page.ts'
import { clipTo, measure } from './shoot/measure.ts'
import { printPdf } from './shoot/print-pdf.ts'
import { shootSections } from './shoot/shoot-sections.ts'
import { shoot } from './shoot/shoot.ts'
import * as warnings from './shoot/warnings.ts'

/** Environment of a capture besides its page and plan. */
export type CaptureBounds = SizeBounds & {
  readonly traffic: Traffic
  readonly blocker: Blocker
  readonly consentScript: ConsentScript
  /** Deadline of the capture, on `performance`'s clock; the steps after loading share what loading leaves. */
  readonly endsAt: number
  /** Called once the page has loaded; later failures are not time-outs. */
  readonly loaded: () => void
  /** Waits for one stage and records its duration. */
  readonly time: <T>(stage: keyof Timings, work: Promise<T>) => Promise<T>
}

/** A running capture. */
type Capture = CaptureBounds & {
  readonly open: OpenPage
  readonly plan: CapturePlan
  readonly log: PageLog
  /** Milliseconds that a stage starting now may take. */
  readonly share: (stage: WaitingStage) => number
}

type Rendering = Pick<Shot, 'width' | 'height' | 'warnings'> & {
  readonly bytes: Buffer
  readonly renditions: readonly Rendition[]
}

/** Hides blocked elements, applies the caller's changes and actions, and waits for the delay. */
const changeLoadedPage = async ({ open, plan, share }: Capture, hider: Hider): Promise<Warning[]> => {
  const documentId = open.document.id()
  await hider.apply()
  // Its report may come later than that of the load event.
  await followRefreshes(open, performance.now() + share('settle'))
  const changed = await changePage(open, plan.changes, share('changes'))
  const acted = await runActions(open, plan.actions, share('actions'))
  await delay(plan.delayMs)
  await followNavigation(open, performance.now() + share('navigation'))
  const isAnother = open.document.id() !== documentId
  const changes = [plan.actions, ...Object.values(plan.changes)]
  if (isAnother || plan.delayMs > 0 || changes.some((each) => each !== undefined && each.length > 0))
    await hider.apply()
  return [...changed, ...acted, ...(await reapplyStyle(open, plan.changes))]
}

/** Settles the page and finishes its animations. */
const settlePage = async (capture: Capture): Promise<Settled> => {
  const { open, plan, share, heightMax } = capture
  const { subject } = plan
  const isWhole = subject.kind !== 'viewport' && !(subject.kind === 'full-page' && subject.inSections)
  const settlePart = (part: Subject) => settle(open, part, { heightMax, waitMs: share('settle') })
  const finish = async (settled: Settled) => {
    if (plan.finishesAnimations) await finishAnimations(open, { isWhole, waitMs: share('settle') })
    return settled
  }
  const first = await settlePart(subject)
  const hasContent = first.hasLoader && (await outlastLoader(open, share('settle')))
  const settled = await finish(hasContent ? await settlePart(subject) : first)
  if (subject.kind === 'viewport' || subject.kind === 'pages') return settled
  return await settleTall(open, plan, capture, { settled, settle: async (part) => finish(await settlePart(part)) })
}

/** Changes and settles the loaded page before the shot. */
const prepare = async (capture: Capture): Promise<Warning[]> => {
  const { open, time, share } = capture
  const hider = createHider(open, capture.blocker, { script: capture.consentScript, waitMs: () => share('consent') })
  const changed = await time('prepare', changeLoadedPage(capture, hider))
  const { imagesLeft, isScrolled } = await time('settle', settlePage(capture))
  const banners = await hider.finish()
  return [
    ...changed,
    ...banners,
    ...(isScrolled ? [] : [warnings.notScrolled]),
    ...(imagesLeft > 0 ? [warnings.undecodedImages(imagesLeft)] : []),
  ]
}

/** Finds a challenge, and reads the metadata and outputs. */
const inspect = async ({ open, plan, share, log }: Capture) => {
  const waitMs = share('inspect')
  const vendor = await findChallenge(open)
  const metadata = plan.extractsMetadata ? await extractMetadata(open, waitMs) : undefined
  const isUnread = plan.extractsMetadata && metadata === undefined
  const outputs = await readOutputs(open, { names: plan.outputs, log }, share('inspect'))
  const found = [
    ...(vendor === undefined ? [] : [warnings.challenge(vendor)]),
    ...(isUnread ? [warnings.metadataUnread] : []),
    ...outputs.flatMap(({ name, content }) => (content ? [] : [warnings.outputUnread(name)])),
    ...outputs.flatMap(({ name, cut }) => (cut === undefined ? [] : [warnings.outputTruncated(name, cut)])),
  ]
  return { metadata, outputs, warnings: found }
}

/** Wait before the second shot of a blank page. */
const blankRetryMs = 500

/** Measures the subject, shoots and encodes it. Retries an image of a single colour once. */
const takeImage = async (
  { open, plan, traffic, time, heightMax, pixelsMax }: Capture,
  output: ImageOutput,
): Promise<Rendering> => {
  const { emulation, subject, renditions } = plan
  const { scale } = emulation
  const sizes = { heightMax, pixelsMax: pixelsWithin(plan, pixelsMax) }
  const whole = await measure(open, subject, emulation, sizes)
  const { frame, isTruncated, zoom } = subject.kind === 'element' ? whole : clipTo(whole, plan.clip)
  const size = { width: Math.round(frame.width * zoom * scale), height: Math.round(frame.height * zoom * scale) }
  for (const each of [output, ...renditions]) assertFits(each, size)
  // Fails if the page navigates meanwhile; it is then shot as it is.
  const bars = arrangeBars(subject, frame.height, plan.emulation.height)
  if (bars !== undefined) await runInMainFrame(open, bars).catch(() => {})
  const shared = { ...output, format: 'png' as const }
  const settings = { frame, zoom, subject, output: renditions.length > 0 ? shared : output }
  const inSections = subject.kind === 'full-page' && subject.inSections
  const take = async () => {
    const picture = await time('shoot', inSections ? shootSections(open, plan, settings) : shoot(open, settings))
    assertDocument(open, traffic)
    const isEmpty = await time('inspect', isBlank(picture))
    return { picture, isEmpty }
  }
  let taken = await take()
  if (taken.isEmpty) {
    await delay(blankRetryMs)
    taken = await take()
  }
  const found = [...(isTruncated ? [warnings.truncated(frame)] : []), ...(taken.isEmpty ? [warnings.blank] : [])]
  const image = await time('encode', encode(taken.picture, output, size))
  const further: Rendition[] = []
  for (const each of renditions) {
    further.push({ ...(await time('encode', encode(taken.picture, each, size))), format: each.format })
  }
  return { ...image, renditions: further, warnings: found }
}

const takePdf = async (capture: Capture, output: PdfOutput): Promise<Rendering> => {
  const { open, plan, time, traffic } = capture
  const printed = await time('shoot', printPdf(open, plan, output, capture))
  assertDocument(open, traffic)
  return { ...printed, renditions: [] }
}

/** Inspects the page and takes its picture. */
const take = async (capture: Capture) => {
  const { open, plan, time } = capture
  const { output } = plan
  const documentId = open.document.id()
  await assertWanted(open, plan.unwanted)
  const inspected = await time('inspect', inspect(capture))
  const picture = await (output.kind === 'pdf' ? takePdf(capture, output) : takeImage(capture, output))
  return { ...inspected, picture, isOfOne: open.document.id() === documentId }
}

/** Follows the page to the document that it goes to, and settles that. */
const settleNext = async (capture: Capture): Promise<void> => {
  const { open, time, share } = capture
  await followNavigation(open, performance.now() + share('navigation'))
  await time('settle', settlePage(capture))
}

const render = async (capture: Capture): Promise<Shot> => {
  const { open, plan } = capture
  const { output } = plan
  const before = await prepare(capture)
  if (open.document.isNavigating()) await settleNext(capture)
  let taken = await take(capture)
  if (output.kind === 'image' && !taken.isOfOne) {
    await settleNext(capture)
    taken = await take(capture)
  }
  const { metadata, outputs, warnings: found, picture } = taken
  const finalUrl = open.document.address()
  const { bytes, renditions, width, height } = picture
  return {
    ...joinFiles(bytes, { outputs, renditions }),
    width,
    height,
    mimeType: mediaTypes[output.kind === 'pdf' ? 'pdf' : output.format],
    targetStatus: open.document.status(),
    // Masked, because it is sent and stored in plain text from here on.
    finalUrl: /^https?:/.test(finalUrl) ? maskUrl(finalUrl) : undefined,
    warnings: [...before, ...found, ...picture.warnings],
    metadata,
  }
}

/**
 * Takes one capture in a page that was opened for it: load, prepare, inspect, shoot, encode. Throws the `AppError` for the
 * record, or the browser's own error if the browser ended.
 */
export const runCapture = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Shot> => {
  const { pixelsMax } = bounds
  const { subject } = plan
  const heightMax = Math.min(bounds.heightMax, (subject.kind === 'full-page' && subject.heightMax) || bounds.heightMax)
  const share = (stage: WaitingStage) =>
    stageShareMs(plan, stage, { leftMs: bounds.endsAt - performance.now(), pixelsMax })
  const log = recordPage(open, plan, bounds)
  const capture = { ...bounds, heightMax, open, plan, share, log }
  const failures = [open.crashed, open.document.cutOff, bounds.traffic.failed]
  const early = await bounds.time('navigate', Promise.race([loadPage(capture), ...failures]))
  bounds.loaded()
  const late = () => timeoutError(true, plan.timeoutSeconds)
  const shot = await within(Promise.race([render(capture), ...failures]), bounds.endsAt - performance.now(), late)
  return { ...shot, warnings: [...early, ...shot.warnings] }
}
