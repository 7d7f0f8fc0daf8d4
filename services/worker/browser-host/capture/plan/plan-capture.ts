import { totalDelayMs, requestedWaitMs } from '#shared/capture/budget.ts'
import { type CaptureOptions, type CaptureParameters, type Format, effectiveScale } from '#shared/capture/options.ts'
import { devices } from '#shared/capture/parameters/devices.ts'
import { browserOf } from '#shared/capture/pool-of.ts'
import { pdfPageSize, toMillimetres } from '#shared/capture/pdf-lengths.ts'

/** What the picture shows. */
export type Subject =
  | { readonly kind: 'viewport' }
  /** All of the page, on the pages of a PDF. */
  | { readonly kind: 'pages' }
  | {
      readonly kind: 'full-page'
      /** Whether it is shot viewport by viewport; otherwise in a viewport of its height. */
      readonly inSections: boolean
      /** Whether it is as wide as the viewport, even if its content is wider. */
      readonly isCutToWidth: boolean
      /** Most CSS pixels of its height, if less than the worker's own bound. */
      readonly heightMax: number | undefined
    }
  | { readonly kind: 'element'; readonly selector: string }

/** The event after which a document counts as loaded. */
export type LoadEvent = 'load' | 'DOMContentLoaded'

/** An image. */
export type ImageOutput = {
  readonly kind: 'image'
  readonly format: Exclude<Format, 'pdf'>
  readonly quality: number
  readonly isTransparent: boolean
  /** Whether a transparent picture is put on white for it. */
  readonly isFlattened?: boolean
  /** The image is made smaller to fit inside, never larger; undefined on a side: no bound there. */
  readonly fit: { readonly width: number | undefined; readonly height: number | undefined } | undefined
  /** How the image fills exactly `fit`; undefined: it keeps its aspect ratio. */
  readonly placing?: { readonly mode: 'cover' | 'contain'; readonly position: string } | undefined
}

/** The requested result of a capture. */
export type Output = ImageOutput | PdfOutput

/** A PDF. */
export type PdfOutput = { readonly kind: 'pdf'; readonly page: PdfPage; readonly print: PdfPrint }

const planEmulation = (options: CaptureOptions) => {
  const device = devices[options.device]
  return {
    browser: browserOf(options),
    width: options.width,
    height: options.height,
    /** Device pixels for each CSS pixel. */
    scale: effectiveScale(options),
    /** Mobile layout and touch. */
    isMobile: device.isMobile,
    /** Undefined: the browser's own, without "Headless". */
    userAgent: options.user_agent ?? device.userAgent,
    timezone: options.timezone ?? 'UTC',
    locale: options.locale ?? 'en-US',
    /** Undefined: the browser's own, by what it does. */
    media: options.media_type,
    isDark: options.dark_mode,
    isMotionReduced: options.reduced_motion,
    /** Undefined: requests for the location are denied. */
    geolocation: options.geolocation,
  }
}

/** Browser properties that a page can observe; fixed before the page opens. */
export type Emulation = Readonly<ReturnType<typeof planEmulation>>

/** The origin of `url` and, from http on its default port, its https, as a site moves: origins are written without their default port. */
const targetOrigins = (url: string): string[] => {
  const { origin, protocol, port } = new URL(url)
  return protocol === 'http:' && port === '' ? [origin, origin.replace('http:', 'https:')] : [origin]
}

const planHeaders = ({ url, headers = {}, header_origins: more = [] }: CaptureOptions) => {
  if (url === undefined || Object.keys(headers).length === 0) return undefined
  return { origins: [...targetOrigins(url), ...more.map((origin) => new URL(origin).origin)], values: headers }
}

/** Below this width of the viewport, in CSS pixels, what is wider than the page is taken for a mistake of it, as by devices with touch. */
const narrowWidth = 600

const planSubject = (options: CaptureOptions): Subject => {
  const { selector, device, width } = options
  const isNarrow = devices[device].isMobile || width < narrowWidth
  const { full_page_width: fullWidth = isNarrow ? 'viewport' : 'content' } = options
  if (selector !== undefined) return { kind: 'element', selector }
  if (!options.full_page) return { kind: options.format === 'pdf' ? 'pages' : 'viewport' }
  const inSections = options.full_page_mode === 'sections' && options.format !== 'pdf'
  return {
    kind: 'full-page',
    inSections,
    isCutToWidth: inSections || fullWidth === 'viewport',
    heightMax: options.full_page_max_height,
  }
}

const inches = (millimetres: number): number => millimetres / 25.4

const planPdfPage = (options: CaptureOptions) => {
  const [width, height] = pdfPageSize(options)
  const readMargin = (side: 'top' | 'right' | 'bottom' | 'left') => inches(toMillimetres(options[`pdf_margin_${side}`]))
  const margins = {
    top: readMargin('top'),
    right: readMargin('right'),
    bottom: readMargin('bottom'),
    left: readMargin('left'),
  }
  return { width: inches(width), height: inches(height), margins }
}

/** A page of a PDF; lengths in inches. */
export type PdfPage = Readonly<ReturnType<typeof planPdfPage>>

const planPdfPrint = (options: CaptureOptions) => ({
  /** Whether all is printed on one page, as wide as the paper. */
  onOnePage: options.pdf_single_page,
  scale: options.pdf_scale,
  /** Whether the page is shrunk until its content is no wider than the paper. */
  fitsWidth: options.pdf_fit === 'width',
  /** Whether the page's `@page` rules give the size of the paper. */
  hasOwnSize: options.pdf_css_page_size,
  hasBackground: options.pdf_background,
  /** All pages if undefined. */
  ranges: options.pdf_page_ranges,
  /** HTML of each page's header and footer. */
  header: options.pdf_header,
  footer: options.pdf_footer,
  hasOutline: options.pdf_outline,
})

/** What is printed on the pages of a PDF. */
export type PdfPrint = Readonly<ReturnType<typeof planPdfPrint>>

/** `fit` and `placing` of an image. */
const planSize = ({
  resize_width: width,
  resize_height: height,
  resize_mode: mode,
  resize_position: position = 'center',
}: CaptureParameters): Pick<ImageOutput, 'fit' | 'placing'> => ({
  fit: width !== undefined || height !== undefined ? { width, height } : undefined,
  placing: mode === 'cover' || mode === 'contain' ? { mode, position } : undefined,
})

const planOutput = (options: CaptureOptions): Output => {
  const { format, quality, omit_background: isTransparent } = options
  if (format === 'pdf') return { kind: 'pdf', page: planPdfPage(options), print: planPdfPrint(options) }
  return { kind: 'image', format, quality, isTransparent, ...planSize(options) }
}

/** Further images of the same picture; none of a PDF. */
const planRenditions = ({ quality, omit_background: isOmitted, ...options }: CaptureOptions): ImageOutput[] =>
  (options.format === 'pdf' ? [] : (options.renditions ?? [])).map(({ format, quality: own = quality, ...size }) => {
    const isTransparent = isOmitted && (format === 'png' || format === 'webp')
    const isFlattened = isOmitted && !isTransparent
    return { kind: 'image', format, quality: own, isTransparent, isFlattened, ...planSize(size) }
  })

/**
 * Decides what a capture does. Of conflicting parameters, an explicit value wins over the device's, and a selector over the
 * full page.
 */
export const planCapture = (options: CaptureOptions) => {
  const { url, html, markdown } = options
  return {
    /** Exactly one is defined. */
    source: { url, html, markdown },
    emulation: planEmulation(options),
    /** The kinds of content that are neither loaded nor shown. */
    blocks: {
      cookies: options.block_cookies,
      ads: options.block_ads,
      trackers: options.block_ads || options.block_trackers,
      chats: options.block_chats,
    },
    /** Whether what lies over the page to ask visitors for something is hidden. */
    hidesPopups: options.block_popups,
    /** What of the page is not loaded, by kind and by patterns of addresses. */
    refuses: { resources: options.block_resources ?? [], patterns: options.block_requests ?? [] },
    cookies: options.cookies ?? [],
    /** Items of the target's storage, set before it loads. */
    storage: { local: options.local_storage ?? {}, session: options.session_storage ?? {} },
    /** Headers, and the origins that they are sent to; undefined if there are none. */
    headers: planHeaders(options),
    /** Seconds within which the page must load, and `waitForSelector` match. */
    timeoutSeconds: options.timeout,
    /** Whether a page that has not loaded, or not met what it is waited for, by then is captured as it is. */
    capturesUnfinished: options.on_timeout === 'capture',
    waitForSelector: options.wait_for_selector,
    /** Selector of what must be hidden, and JavaScript that must be true, within `timeoutSeconds`. */
    waitForHidden: options.wait_for_selector_hidden,
    waitForFunction: options.wait_for_function,
    /** The event after which the page counts as loaded. */
    loadEvent: options.wait_until === 'domcontentloaded' ? 'DOMContentLoaded' : ('load' as LoadEvent),
    /** Whether to wait until the network is idle too, for the rest of `timeoutSeconds` at most. */
    waitsForIdle: options.wait_until === 'network_idle',
    /** What the caller does not want a picture of. */
    unwanted: {
      hasErrorStatus: options.fail_on_status,
      missing: options.fail_if_selector_missing,
      present: options.fail_if_selector_present,
      text: options.fail_if_text,
    },
    /** Changes to the loaded page, in this order. */
    changes: {
      css: options.css,
      hide: options.hide_selectors ?? [],
      js: options.js,
      click: options.click_selector,
      scrollTo: options.scroll_to,
    },
    /** Steps on the page after its changes. */
    actions: options.actions ?? [],
    delayMs: totalDelayMs(options),
    /** Milliseconds of the delay and of the actions together. */
    requestedWaitMs: requestedWaitMs(options),
    /** Whether animations are shown at their end instead of running. */
    finishesAnimations: options.animations !== 'allow',
    /** Whether the page's metadata is read once it has settled. */
    extractsMetadata: options.extract_metadata,
    subject: planSubject(options),
    /** Part of a viewport or full page; undefined: all of it. */
    clip: options.clip,
    output: planOutput(options),
    renditions: planRenditions(options),
    /** Content of the page that is stored besides its picture. */
    outputs: options.outputs ?? [],
  }
}

/** Everything that a capture does, decided before its page opens. */
export type CapturePlan = Readonly<ReturnType<typeof planCapture>>
