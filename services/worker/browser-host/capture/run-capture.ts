import { maskUrl } from '#shared/capture/mask-url.ts'
import { mediaTypes } from '#shared/capture/options.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { Warning } from '#shared/queue/messages.ts'
import type { Shot } from '#worker/browser-host/protocol.ts'
import { type CaptureBounds, timing } from './capture-bounds.ts'
import type { OpenPage } from './equip/open-page.ts'
import { interceptRequests } from './equip/intercept-requests.ts'
import { setCookies } from './equip/set-cookies.ts'
import { extractMetadata } from './inspect/extract-metadata.ts'
import { findChallenge } from './inspect/find-challenge.ts'
import { awaitSelector } from './load/await-selector.ts'
import { awaitIdle } from './load/await-idle.ts'
import { goTo } from './load/go-to.ts'
import type { CapturePlan } from './plan/plan-capture.ts'
import { shareOf, type WaitingStage } from './plan/share-time.ts'
import { changePage, styleAgain } from './prepare/change-page.ts'
import { followNavigation } from './prepare/follow-navigation.ts'
import { createHiding, type Hiding } from './prepare/hide-blocked.ts'
import { settle } from './prepare/settle.ts'
import { takePicture } from './take-picture.ts'
import * as warnings from './warnings.ts'

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
