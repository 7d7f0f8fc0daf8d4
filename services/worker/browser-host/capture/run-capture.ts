import { maskUrl } from '#shared/capture/mask-url.ts'
import { mediaTypes } from '#shared/capture/options.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { Timings, Warning } from '#shared/queue/messages.ts'
import type { Blocker } from '#worker/browser-host/blocking/blocker.ts'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import type { Shot } from '#worker/browser-host/protocol.ts'
import type { Traffic } from '#worker/browser-host/traffic.ts'
import { assertFits, encode } from './encode/encode.ts'
import type { OpenPage } from './equip/open-page.ts'
import { interceptRequests } from './equip/intercept-requests.ts'
import { setCookies } from './equip/set-cookies.ts'
import { extractMetadata } from './inspect/extract-metadata.ts'
import { isBlank } from './inspect/is-blank.ts'
import { awaitSelector } from './load/await-selector.ts'
import { goTo } from './load/go-to.ts'
import { assertDocument } from './load/navigate.ts'
import type { CapturePlan, ImageOutput, PdfPage } from './plan/plan-capture.ts'
import { changePage, styleAgain } from './prepare/change-page.ts'
import { followNavigation } from './prepare/follow-navigation.ts'
import { createHiding } from './prepare/hide-blocked.ts'
import { settle } from './prepare/settle.ts'
import { printPages } from './shoot/print-pages.ts'
import { shoot } from './shoot/shoot.ts'
import { type Frame, measure, type SizeBounds } from './subject/measure.ts'

/** Everything after the page has loaded but for the delay; the rest of the budget is for storing and reporting. */
const renderMs = 14_000

/** Time for a document to which the page goes by itself after it has loaded. */
const navigationMs = 3000

/** What a capture needs beside its page and its plan. */
export type CaptureBounds = SizeBounds & {
  readonly traffic: Traffic
  readonly blocker: Blocker
  readonly consentScript: ConsentScript
  /** Called once the page has loaded: what fails from here on is not a time-out. */
  readonly loaded: () => void
  /** Takes the milliseconds of each stage as it ends. */
  readonly timed: (stage: keyof Timings, stageMs: number) => void
}

/** What was made of a page. */
type Picture = Pick<Shot, 'bytes' | 'width' | 'height'> & { readonly warnings: readonly Warning[] }

/** Waits for one stage and notes how long it took. */
const timing =
  ({ timed }: Pick<CaptureBounds, 'timed'>) =>
  async <T>(stage: keyof Timings, work: Promise<T>): Promise<T> => {
    const began = performance.now()
    try {
      return await work
    } finally {
      timed(stage, Math.round(performance.now() - began))
    }
  }

const truncated = ({ width, height }: Frame): Warning => ({
  code: 'truncated',
  message: `The page is larger than ${width} x ${height} CSS px; what is beyond is cut off.`,
})

const metadataUnread: Warning = {
  code: 'metadata_unread',
  message: 'The page went from document to document, so its metadata could not be read.',
}

const loadPage = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<void> => {
  const began = performance.now()
  const { timeoutSeconds, waitForSelector } = plan
  await setCookies(open.context, plan.cookies, plan.source.url)
  const { refused } = await interceptRequests(open, { headers: plan.headers, refuses: bounds.blocker.refusesRequest })
  await Promise.race([goTo(open, plan, bounds), refused])
  if (waitForSelector === undefined) return
  const waitMs = timeoutSeconds * 1000 - (performance.now() - began)
  await awaitSelector(open, waitForSelector, { waitMs, timeoutSeconds })
}

const takePicture = async (
  open: OpenPage,
  plan: CapturePlan,
  output: ImageOutput,
  bounds: CaptureBounds,
): Promise<Picture> => {
  const time = timing(bounds)
  const { scale } = plan.emulation
  const { frame, isTruncated } = await measure(open, plan.subject, plan.emulation, bounds)
  const size = { width: frame.width * scale, height: frame.height * scale }
  assertFits(output, size)
  const picture = await time('shoot', shoot(open, { frame, scale, subject: plan.subject, output }))
  assertDocument(open, bounds.traffic)
  const encodeAndLook = async () => {
    const image = await encode(picture, output, size)
    return { image, blank: await isBlank(image.bytes) }
  }
  const { image, blank } = await time('encode', encodeAndLook())
  const warnings = [
    ...(isTruncated ? [truncated(frame)] : []),
    ...(blank ? [{ code: 'blank', message: 'The picture has a single colour.' }] : []),
  ]
  return { ...image, warnings }
}

const takePdf = async (open: OpenPage, plan: CapturePlan, page: PdfPage, bounds: CaptureBounds): Promise<Picture> => {
  const { bytes, size, frame } = await timing(bounds)('shoot', printPages(open, { plan, page }, bounds))
  assertDocument(open, bounds.traffic)
  return { bytes, ...size, warnings: frame ? [truncated(frame)] : [] }
}

/** What is done between the load and the shot. */
const prepare = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Warning[]> => {
  const hiding = createHiding(open, bounds.blocker, bounds.consentScript)
  await hiding.apply()
  const changed = await changePage(open, plan.changes)
  await new Promise((wake) => setTimeout(wake, plan.delaySeconds * 1000))
  await followNavigation(open, performance.now() + navigationMs)
  if (plan.delaySeconds > 0 || Object.values(plan.changes).some((each) => each !== undefined && each.length > 0))
    await hiding.apply()
  const missing = await styleAgain(open, plan.changes)
  const undecoded = await timing(bounds)('settle', settle(open, plan.subject, bounds.heightMax))
  const left = await hiding.finish()
  const message = `${undecoded} images had not loaded when the picture was taken.`
  return [...changed, ...missing, ...left, ...(undecoded > 0 ? [{ code: 'undecoded_images', message }] : [])]
}

const render = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Shot> => {
  const { output } = plan
  const before = await prepare(open, plan, bounds)
  const metadata = plan.extractsMetadata ? await extractMetadata(open) : undefined
  const isUnread = plan.extractsMetadata && metadata === undefined
  const { warnings, ...picture } =
    output.kind === 'pdf'
      ? await takePdf(open, plan, output.page, bounds)
      : await takePicture(open, plan, output, bounds)
  const finalUrl = open.page.url()
  return {
    ...picture,
    mimeType: mediaTypes[output.kind === 'pdf' ? 'pdf' : output.format],
    targetStatus: open.document.status,
    // Masked here: from here on it travels and is stored in the clear.
    finalUrl: /^https?:/.test(finalUrl) ? maskUrl(finalUrl) : undefined,
    warnings: [...before, ...(isUnread ? [metadataUnread] : []), ...warnings],
    metadata,
  }
}

/**
 * Takes one capture in a page that was opened for it: load, prepare, find the subject, shoot, encode. Throws the
 * `AppError` that the record shows, or whatever the browser threw where it went away.
 */
export const runCapture = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Shot> => {
  const broken = [open.crashed, open.cutOff, bounds.traffic.cutShort]
  await timing(bounds)('navigate', Promise.race([loadPage(open, plan, bounds), ...broken]))
  bounds.loaded()
  const boundMs = renderMs + plan.delaySeconds * 1000
  return within(Promise.race([render(open, plan, bounds), ...broken]), boundMs, () => {
    return new AppError('RENDER_ERROR', { publicMessage: 'The page stopped responding after it had loaded.' })
  })
}
