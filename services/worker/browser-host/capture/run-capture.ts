import { maskUrl } from '#shared/capture/mask-url.ts'
import { mediaTypes } from '#shared/capture/options.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { Warning } from '#shared/queue/messages.ts'
import type { Shot } from '#worker/browser-host/protocol.ts'
import { type CaptureBounds, timing } from './capture-bounds.ts'
import type { OpenPage } from './equip/open-page.ts'
import { sendHeaders } from './equip/send-headers.ts'
import { setCookies } from './equip/set-cookies.ts'
import { extractMetadata } from './inspect/extract-metadata.ts'
import { findChallenge } from './inspect/find-challenge.ts'
import { awaitSelector } from './load/await-selector.ts'
import { awaitIdle } from './load/await-idle.ts'
import { navigate } from './load/navigate.ts'
import type { CapturePlan } from './plan/plan-capture.ts'
import { changePage, styleAgain } from './prepare/change-page.ts'
import { followNavigation } from './prepare/follow-navigation.ts'
import { settle } from './prepare/settle.ts'
import { takePicture } from './take-picture.ts'
import * as warnings from './warnings.ts'

/** Time for a document to which the page goes by itself after it has loaded. */
const navigationMs = 3000

/** What is delivered of a page. */
type Unhashed = Omit<Shot, 'sha256'>

const loadPage = async (open: OpenPage, plan: CapturePlan, { traffic }: CaptureBounds): Promise<Warning[]> => {
  const { timeoutSeconds, waitForSelector } = plan
  const endsAt = performance.now() + timeoutSeconds * 1000
  await setCookies(open, plan.cookies, plan.source.url)
  const { refused } = await sendHeaders(open, plan.headers)
  await Promise.race([navigate(open, plan, traffic), refused])
  if (waitForSelector !== undefined) {
    await awaitSelector(open, waitForSelector, { waitMs: endsAt - performance.now(), timeoutSeconds })
  }
  return plan.waitsForIdle && !(await awaitIdle(open, endsAt)) ? [warnings.busy] : []
}

/** What the caller wants changed in the page that has loaded, and the delay. */
const change = async (open: OpenPage, plan: CapturePlan): Promise<Warning[]> => {
  const changed = await changePage(open, plan.changes)
  await new Promise((wake) => setTimeout(wake, plan.delaySeconds * 1000))
  await followNavigation(open, performance.now() + navigationMs)
  return [...changed, ...(await styleAgain(open, plan.changes))]
}

/** What is done between the load and the shot. */
const prepare = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Warning[]> => {
  const time = timing(bounds)
  const changed = await time('prepare', change(open, plan))
  const images = await time('settle', settle(open, plan.subject, bounds.heightMax))
  return [...changed, ...(images > 0 ? [warnings.undecoded(images)] : [])]
}

/** What the page says that is not in its picture. */
const inspect = async (open: OpenPage, plan: CapturePlan) => {
  const vendor = await findChallenge(open)
  const metadata = plan.extractsMetadata ? await extractMetadata(open) : undefined
  const isUnread = plan.extractsMetadata && metadata === undefined
  const seen = [
    ...(vendor === undefined ? [] : [warnings.challenged(vendor)]),
    ...(isUnread ? [warnings.metadataUnread] : []),
  ]
  return { metadata, seen }
}

const render = async (open: OpenPage, plan: CapturePlan, bounds: CaptureBounds): Promise<Unhashed> => {
  const { output } = plan
  const before = await prepare(open, plan, bounds)
  const { metadata, seen } = await timing(bounds)('inspect', inspect(open, plan))
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
