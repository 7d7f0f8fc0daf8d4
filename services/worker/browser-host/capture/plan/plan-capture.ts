import type { CaptureOptions, Format } from '#shared/capture/options.ts'
import { devices } from '#shared/capture/devices.ts'
import { type BrowserKind, browserOf } from '#shared/capture/pool-of.ts'
import { pdfPageSize, toMillimetres } from '#shared/capture/pdf-lengths.ts'

/** A page of a PDF; lengths in inches. */
export type PdfPage = {
  readonly width: number
  readonly height: number
  readonly margins: { readonly top: number; readonly right: number; readonly bottom: number; readonly left: number }
}

/** What a page finds of its browser; fixed before the page opens. */
export type Emulation = {
  readonly browser: BrowserKind
  readonly width: number
  readonly height: number
  /** Device pixels for each CSS pixel. */
  readonly scale: 1 | 2
  /** Mobile layout and touch. */
  readonly isMobile: boolean
  /** Undefined: the browser's own, without "Headless". */
  readonly userAgent: string | undefined
  readonly timezone: string
  readonly isDark: boolean
  readonly isMotionReduced: boolean
  /** Undefined: requests for the location are denied. */
  readonly geolocation: CaptureOptions['geolocation']
}

/** What the picture shows. */
export type Subject =
  | { readonly kind: 'viewport' }
  | { readonly kind: 'full-page' }
  | { readonly kind: 'element'; readonly selector: string }

/** An image. */
export type ImageOutput = {
  readonly kind: 'image'
  readonly format: Exclude<Format, 'pdf'>
  readonly quality: number
  readonly isTransparent: boolean
  /** The image is made smaller to fit inside, never larger; undefined on a side: no bound there. */
  readonly fit: { readonly width: number | undefined; readonly height: number | undefined } | undefined
}

/** What comes out. */
export type Output = ImageOutput | { readonly kind: 'pdf'; readonly page: PdfPage }

/** Everything that a capture does, decided before its page opens. */
export type CapturePlan = {
  /** One of them. */
  readonly source: {
    readonly url: string | undefined
    readonly html: string | undefined
    readonly markdown: string | undefined
  }
  readonly emulation: Emulation
  /** What is neither loaded nor shown. */
  readonly blocks: { readonly cookies: boolean; readonly ads: boolean; readonly chats: boolean }
  readonly cookies: NonNullable<CaptureOptions['cookies']>
  /** What is sent to the target's host, which stands as URLs write it; undefined where nothing is added. */
  readonly headers: { readonly host: string; readonly values: NonNullable<CaptureOptions['headers']> } | undefined
  /** Seconds in which the page must load, and `waitForSelector` match. */
  readonly timeoutSeconds: number
  readonly waitForSelector: string | undefined
  /** Whether the page must also have stopped asking for things, as far as `timeoutSeconds` go. */
  readonly waitsForIdle: boolean
  /** What is done to the loaded page, in this order. */
  readonly changes: {
    readonly css: string | undefined
    readonly hide: readonly string[]
    readonly js: string | undefined
    readonly click: string | undefined
    readonly scrollTo: string | undefined
  }
  readonly delaySeconds: number
  /** Whether the page's metadata is read once it has settled. */
  readonly extractsMetadata: boolean
  readonly subject: Subject
  readonly output: Output
}

const planEmulation = (options: CaptureOptions): Emulation => {
  const device = devices[options.device]
  return {
    browser: browserOf(options),
    width: options.width,
    height: options.height,
    scale: options.retina ? 2 : 1,
    isMobile: device.isMobile,
    userAgent: options.user_agent ?? device.userAgent,
    timezone: options.timezone ?? 'UTC',
    isDark: options.dark_mode,
    isMotionReduced: options.reduced_motion,
    geolocation: options.geolocation,
  }
}

const planHeaders = ({ url, headers = {} }: CaptureOptions): CapturePlan['headers'] => {
  const host = url === undefined ? undefined : URL.parse(url)?.hostname
  return host === undefined || Object.keys(headers).length === 0 ? undefined : { host, values: headers }
}

const planSubject = ({ selector, full_page: isFullPage }: CaptureOptions): Subject => {
  if (selector !== undefined) return { kind: 'element', selector }
  return { kind: isFullPage ? 'full-page' : 'viewport' }
}

const inches = (millimetres: number): number => millimetres / 25.4

const planPdfPage = (options: CaptureOptions): PdfPage => {
  const [width, height] = pdfPageSize(options)
  const marginOf = (side: 'top' | 'right' | 'bottom' | 'left') => inches(toMillimetres(options[`pdf_margin_${side}`]))
  const margins = {
    top: marginOf('top'),
    right: marginOf('right'),
    bottom: marginOf('bottom'),
    left: marginOf('left'),
  }
  return { width: inches(width), height: inches(height), margins }
}

const planOutput = (options: CaptureOptions): Output => {
  const { format, quality, omit_background: isTransparent, resize_width: width, resize_height: height } = options
  if (format === 'pdf') return { kind: 'pdf', page: planPdfPage(options) }
  const isResized = width !== undefined || height !== undefined
  return { kind: 'image', format, quality, isTransparent, fit: isResized ? { width, height } : undefined }
}

/**
 * Decides what a capture does. Of parameters that exclude each other one wins: an explicit value over the device's, a
 * selector over the full page.
 */
export const planCapture = (options: CaptureOptions): CapturePlan => {
  const { url, html, markdown } = options
  return {
    source: { url, html, markdown },
    emulation: planEmulation(options),
    blocks: { cookies: options.block_cookies, ads: options.block_ads, chats: options.block_chats },
    cookies: options.cookies ?? [],
    headers: planHeaders(options),
    timeoutSeconds: options.timeout,
    waitForSelector: options.wait_for_selector,
    waitsForIdle: options.wait_until === 'network_idle',
    changes: {
      css: options.css,
      hide: options.hide_selectors ?? [],
      js: options.js,
      click: options.click_selector,
      scrollTo: options.scroll_to,
    },
    delaySeconds: options.delay,
    extractsMetadata: options.extract_metadata,
    subject: planSubject(options),
    output: planOutput(options),
  }
}
