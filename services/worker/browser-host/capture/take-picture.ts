import type { Warning } from '#shared/queue/messages.ts'
import type { Shot } from '#worker/browser-host/protocol.ts'
import { type CaptureBounds, timing } from './capture-bounds.ts'
import { assertFits, encode } from './encode/encode.ts'
import type { OpenPage } from './equip/open-page.ts'
import { isBlank } from './inspect/is-blank.ts'
import { assertDocument } from './load/navigate.ts'
import type { CapturePlan, ImageOutput, PdfPage } from './plan/plan-capture.ts'
import { pixelsWithin } from './plan/share-time.ts'
import { runInOwnWorld } from './prepare/world.ts'
import { printPages } from './shoot/print-pages.ts'
import { shoot } from './shoot/shoot.ts'
import { measure } from './subject/measure.ts'
import { pinBars } from './subject/pin-bars.ts'
import * as warnings from './warnings.ts'

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
