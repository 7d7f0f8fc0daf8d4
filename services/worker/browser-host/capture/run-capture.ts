import { maskUrl } from '#shared/capture/mask-url.ts'
import { mediaTypes } from '#shared/capture/options.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Timings, Warning } from '#shared/queue/messages.ts'
import type { Order, Shot } from '#worker/browser-host/protocol.ts'
import type { Traffic } from '#worker/browser-host/traffic.ts'
import { within } from '#shared/process/within.ts'
import { awaitSelector } from './await-selector.ts'
import { encode } from './encode.ts'
import { isBlank } from './is-blank.ts'
import { assertDocument, navigate } from './navigate.ts'
import type { OpenPage } from './open-page.ts'
import { settle } from './settle.ts'
import { assertFits, type Frame, measure, shoot } from './shoot.ts'

/** Everything after the page has loaded and the delay has passed; the rest of the budget is for storing and reporting. */
const renderMs = 12_000

/** What a capture needs beside its page. */
export type CaptureBounds = {
  readonly heightMax: number
  readonly traffic: Traffic
  /** Called once the page has loaded: what fails from here on is not a time-out. */
  readonly loaded: () => void
  /** Takes the milliseconds of each stage as it ends. */
  readonly timed: (stage: keyof Timings, stageMs: number) => void
}

type Options = Order['options']

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

const warningsOf = (
  { width, height }: Frame,
  seen: { isTruncated: boolean; undecoded: number; isBlank: boolean },
): Warning[] => [
  ...(seen.isTruncated
    ? [
        {
          code: 'truncated',
          message: `The page is larger than ${width} x ${height} CSS px; what is beyond is cut off.`,
        },
      ]
    : []),
  ...(seen.undecoded > 0
    ? [{ code: 'undecoded_images', message: `${seen.undecoded} images had not loaded when the picture was taken.` }]
    : []),
  ...(seen.isBlank ? [{ code: 'blank', message: 'The picture has a single colour.' }] : []),
]

const loadPage = async (open: OpenPage, options: Options, { traffic }: CaptureBounds): Promise<void> => {
  const began = performance.now()
  await navigate(open, options, traffic)
  if (options.wait_for_selector === undefined) return
  const waitMs = options.timeout * 1000 - (performance.now() - began)
  await awaitSelector(open, options.wait_for_selector, { waitMs, timeoutSeconds: options.timeout })
}

const render = async (open: OpenPage, options: Options, bounds: CaptureBounds): Promise<Shot> => {
  const time = timing(bounds)
  const undecoded = await time('settle', settle(open, options, bounds.heightMax))
  const { frame, isTruncated } = await measure(open, options, bounds.heightMax)
  assertFits(options.format, frame)
  const picture = await time('shoot', shoot(open, frame, options))
  assertDocument(open, bounds.traffic)
  const encodeAndLook = async () => {
    const bytes = await encode(picture, options)
    return { bytes, isBlank: await isBlank(bytes) }
  }
  const encoded = await time('encode', encodeAndLook())
  const finalUrl = open.page.url()
  return {
    bytes: encoded.bytes,
    width: frame.width,
    height: frame.height,
    mimeType: mediaTypes[options.format],
    targetStatus: open.document.status,
    // Masked here: from here on it travels and is stored in the clear.
    finalUrl: /^https?:/.test(finalUrl) ? maskUrl(finalUrl) : undefined,
    warnings: warningsOf(frame, { isTruncated, undecoded, isBlank: encoded.isBlank }),
  }
}

/**
 * Takes one capture in a page that was opened for it: load, wait, settle, shoot, encode. Throws the `AppError` that the
 * record shows, or whatever the browser threw where it went away.
 */
export const runCapture = async (open: OpenPage, options: Options, bounds: CaptureBounds): Promise<Shot> => {
  const broken = [open.crashed, open.cutOff, bounds.traffic.cutShort]
  await timing(bounds)('navigate', Promise.race([loadPage(open, options, bounds), ...broken]))
  bounds.loaded()
  await new Promise((wake) => setTimeout(wake, options.delay * 1000))
  return within(Promise.race([render(open, options, bounds), ...broken]), renderMs, () => {
    return new AppError('RENDER_ERROR', { publicMessage: 'The page stopped responding after it had loaded.' })
  })
}
