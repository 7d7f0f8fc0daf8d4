import type { CapturePlan, ImageOutput } from './plan-capture.ts'

/**
 * Most milliseconds of each stage, in order of execution; requested waits are over before `navigation`, and come on top. A
 * `timeout` above the default raises that of `settle` in proportion: the caller knows that the page is slow.
 */
const stageMsMax = {
  consent: 4500,
  changes: 6000,
  actions: 10_000,
  navigation: 3000,
  settle: 8000,
  inspect: 3000,
} as const

/** Default of the parameter `timeout`. */
const defaultTimeoutSeconds = 30

/** A stage that waits for the page between its load and its picture. */
export type WaitingStage = keyof typeof stageMsMax

const order = Object.keys(stageMsMax) as readonly WaitingStage[]

/** Most device pixels of an image, if fewer than the worker's own bound: AVIF encoding takes 34 bytes for each. */
const pixelsMaxByFormat: Partial<Record<ImageOutput['format'], number>> = { avif: 34_000_000 }

/**
 * Milliseconds to shoot and encode a megapixel of photographs with twice as many runnable programs as cores; `basePictureMs`
 * is added for every picture. Measured by test/bench/measure-largest.ts.
 */
const megapixelMs: Readonly<Record<ImageOutput['format'], number>> = {
  png: 120,
  jpeg: 60,
  webp: 110,
  avif: 220,
  tiff: 130,
}
const basePictureMs = 1000
const pdfMs = 5000

type Planned = Pick<
  CapturePlan,
  | 'timeoutSeconds'
  | 'blocks'
  | 'changes'
  | 'actions'
  | 'requestedWaitMs'
  | 'extractsMetadata'
  | 'emulation'
  | 'subject'
  | 'output'
  | 'renditions'
  | 'outputs'
>

type Pictures = Pick<Planned, 'output' | 'renditions'>

const listFormats = ({ output, renditions }: Pictures): ImageOutput['format'][] =>
  [output, ...renditions].flatMap((each) => (each.kind === 'image' ? [each.format] : []))

/**
 * Most device pixels of a picture: the worker's `pixelsMax`, divided among the image and its renditions, or fewer if one of their
 * formats requires it.
 */
export const pixelsWithin = (plan: Pictures, pixelsMax: number): number => {
  const most = listFormats(plan).map((format) => pixelsMaxByFormat[format] ?? pixelsMax)
  return Math.floor(Math.min(pixelsMax / (1 + plan.renditions.length), ...most))
}

const pictureMs = (plan: Planned, pixelsMax: number): number => {
  const { output, subject, emulation } = plan
  if (output.kind === 'pdf') return pdfMs
  const { width, height, scale } = emulation
  const pixels = subject.kind === 'viewport' ? width * height * scale ** 2 : pixelsWithin(plan, pixelsMax)
  return listFormats(plan).reduce((ms, format) => ms + (pixels / 1e6) * megapixelMs[format], basePictureMs)
}

const isTaken = (stage: WaitingStage, { blocks, changes, actions, extractsMetadata, outputs }: Planned): boolean => {
  if (stage === 'consent') return blocks.cookies
  if (stage === 'inspect') return extractsMetadata || outputs.length > 0
  if (stage === 'actions') return actions.length > 0
  if (stage !== 'changes') return true
  return [changes.js, changes.click, changes.scrollTo].some((each) => each !== undefined)
}

const maxOf = (stage: WaitingStage, { timeoutSeconds }: Planned): number =>
  stage === 'settle' ? stageMsMax.settle * Math.max(1, timeoutSeconds / defaultTimeoutSeconds) : stageMsMax[stage]

/**
 * Milliseconds that a stage may take if `leftMs` remain until the deadline when it begins. Time for the largest picture that
 * the plan allows, and for requested waits, is reserved; the rest is divided among the remaining stages in proportion to
 * their maxima. What one stage leaves unused goes to the next ones.
 */
export const stageShareMs = (
  plan: Planned,
  stage: WaitingStage,
  { leftMs, pixelsMax }: { readonly leftMs: number; readonly pixelsMax: number },
): number => {
  const ahead = order.slice(order.indexOf(stage)).filter((each) => isTaken(each, plan))
  const requestedMs = order.indexOf(stage) < order.indexOf('navigation') ? plan.requestedWaitMs : 0
  const freeMs = leftMs - requestedMs - pictureMs(plan, pixelsMax)
  const wantedMs = ahead.reduce((sum, each) => sum + maxOf(each, plan), 0)
  return Math.floor(maxOf(stage, plan) * Math.min(1, Math.max(0, freeMs / wantedMs)))
}
