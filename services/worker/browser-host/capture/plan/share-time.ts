import type { CapturePlan, ImageOutput, Output } from './plan-capture.ts'

/** Milliseconds that each stage takes at most, however much is left, in their order; the delay lies before the navigation. */
const mostMs = { consent: 4500, changes: 6000, navigation: 3000, settle: 8000, inspect: 3000 } as const

/** What waits for the page between its load and its picture. */
export type WaitingStage = keyof typeof mostMs

const order = Object.keys(mostMs) as readonly WaitingStage[]

/** Most device pixels of an image where it is fewer than the worker's own bound: an encoder of AVIF takes 34 bytes for each. */
const formatPixelsMax: Partial<Record<ImageOutput['format'], number>> = { avif: 34_000_000 }

/**
 * Milliseconds that shooting and encoding a megapixel of photographs takes where twice as many programs as cores want to run,
 * and what every picture takes beside. Measured by test/bench/measure-largest.ts.
 */
const megapixelMs: Readonly<Record<ImageOutput['format'], number>> = {
  png: 120,
  jpeg: 60,
  webp: 110,
  avif: 220,
  tiff: 130,
}
const anyPictureMs = 1000
const pdfMs = 5000

type Planned = Pick<
  CapturePlan,
  'blocks' | 'changes' | 'delaySeconds' | 'extractsMetadata' | 'emulation' | 'subject' | 'output'
>

/** How many device pixels an image may have, of `pixelsMax` that the worker allows. */
export const pixelsWithin = (output: Output, pixelsMax: number): number =>
  Math.min(pixelsMax, (output.kind === 'image' && formatPixelsMax[output.format]) || pixelsMax)

const pictureMs = ({ output, subject, emulation }: Planned, pixelsMax: number): number => {
  if (output.kind === 'pdf') return pdfMs
  const { width, height, scale } = emulation
  const pixels = subject.kind === 'viewport' ? width * height * scale ** 2 : pixelsWithin(output, pixelsMax)
  return anyPictureMs + (pixels / 1e6) * megapixelMs[output.format]
}

const isTaken = (stage: WaitingStage, { blocks, changes, extractsMetadata }: Planned): boolean => {
  if (stage === 'consent') return blocks.cookies
  if (stage === 'inspect') return extractsMetadata
  if (stage !== 'changes') return true
  return [changes.js, changes.click, changes.scrollTo].some((each) => each !== undefined)
}

/**
 * Milliseconds that a stage may take where `leftMs` are left of the deadline as it begins. The largest picture that the plan
 * allows, and the caller's delay, are kept free; what then is left goes to the stages that are yet to come, by what they
 * take at most. What one leaves over is there for the next.
 */
export const shareOf = (
  plan: Planned,
  stage: WaitingStage,
  { leftMs, pixelsMax }: { readonly leftMs: number; readonly pixelsMax: number },
): number => {
  const ahead = order.slice(order.indexOf(stage)).filter((each) => isTaken(each, plan))
  const delayMs = order.indexOf(stage) < order.indexOf('navigation') ? plan.delaySeconds * 1000 : 0
  const freeMs = leftMs - delayMs - pictureMs(plan, pixelsMax)
  const wantedMs = ahead.reduce((sum, each) => sum + mostMs[each], 0)
  return Math.floor(mostMs[stage] * Math.min(1, Math.max(0, freeMs / wantedMs)))
}
