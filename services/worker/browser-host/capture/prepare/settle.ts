import { within } from '#shared/process/within.ts'
import { findScroller } from '#worker/browser-host/capture/page/largest-part.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { awaitObserved, awaitUnchanged, pause, twoFrames } from '#worker/browser-host/capture/page/page-frames.ts'
import { boxOf, findFirst } from '#worker/browser-host/capture/page/selectors.ts'
import { waitUntil } from '#worker/browser-host/capture/page/wait-until.ts'
import { runInLatestDocument } from '#worker/browser-host/capture/page/world.ts'
import type { Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { expandScroller, measureFrame } from '#worker/browser-host/capture/shoot/full-page.ts'
import { growFrame, type FrameSize } from './expand-frame.ts'
import { showsLoader } from './loaders.ts'
import { awaitUncovered } from './preloader.ts'
import { watchShownInView } from './shown-in-view.ts'

/** Poll interval for images whose events do not arrive. */
const imagesPollMs = 100

/**
 * Waits for fonts, a preloader, and for the images between `fromPx` and `belowPx` of the page, for at most `waitMs`.
 * Resolves to the number of images still loading. Considers the first 500 images only.
 */
const awaitContent = `async (fromPx, belowPx, waitMs) => {
  const wanted = [...document.images].slice(0, 500).filter((image) => {
    const { top, bottom, width } = image.getBoundingClientRect()
    return width > 0 && bottom + scrollY > fromPx && top + scrollY < belowPx && (image.currentSrc || image.src) !== ''
  })
  // Drawing decodes them at their displayed size; decode() would decode them once more, in full size.
  const left = new Set(wanted.filter((image) => !image.complete))
  const { promise: ended, resolve } = Promise.withResolvers()
  const check = () => {
    for (const image of left) if (image.complete) left.delete(image)
    if (left.size === 0) resolve()
  }
  for (const image of left) for (const type of ['load', 'error']) image.addEventListener(type, check)
  // A page can stop these events before they reach the image.
  const late = (${pause})(waitMs).then(() => { waitMs = 0 })
  const poll = async () => {
    for (check(); left.size > 0 && waitMs > 0; check()) await (${pause})(${imagesPollMs})
  }
  void poll()
  // A document whose load event never came is never ready.
  const fonts = document.fonts.status === 'loading' ? document.fonts.ready : undefined
  await Promise.race([Promise.all([fonts, ended, (${awaitUncovered})().then(${awaitUnchanged})]), late])
  // The placeholder of a broken image is drawn a frame after the failure.
  if (wanted.some((image) => image.complete && image.naturalWidth === 0)) await ${twoFrames}
  return left.size
}`

/** Loads lazy images that scrolling did not, because its time ran out. */
const loadLazyImages = `(fromPx, belowPx) => {
  for (const image of [...document.images].slice(0, 500)) {
    const { top, bottom } = image.getBoundingClientRect()
    const isNear = bottom + scrollY > fromPx && top + scrollY < belowPx
    if (isNear && image.loading === 'lazy' && !image.complete) image.loading = 'eager'
  }
}`

/**
 * A blinking caret would make pictures of the same page differ. Elsewhere than in an editable element there is none, and the
 * inherited style of the body, which is active by default, would draw the whole page again.
 */
const hideCaret = `if (document.activeElement?.matches(':read-write'))
  document.activeElement.style.setProperty('caret-color', 'transparent', 'important')`

/** Removes what Chromium itself adds to documents: the bar over JSON, which then looks like other texts, and the notice over pages made by XSLT. */
const removeNotices = `const bar = /json/.test(document.contentType) && document.querySelector('body > pre + .json-formatter-container:empty')
  if (bar) {
    bar.previousElementSibling.style.padding = 0
    document.body.style.margin = '8px'
    bar.remove()
  }
  document.querySelector('body > xslt-warning-banner[popover]:empty')?.remove()`

/** Bounds of settling: page height in CSS pixels, time for scrolling, and for fonts and images. */
type SettleBounds = { readonly heightMax: number; readonly scrollMs: number; readonly contentMs: number }

/** What is known of a page that has settled. */
export type Settled = {
  /** Number of images still loading. */
  readonly imagesLeft: number
  /** Whether the page could be scrolled through in time. */
  readonly isScrolled: boolean
  /** Whether the page still shows a loader. */
  readonly hasLoader: boolean
  /** The frame that is taken for the page, of a full page. */
  readonly frame?: FrameSize
}

/** Waits for fonts and images in the viewport; the shot itself waits for a frame. */
const settleViewport = ({ contentMs }: SettleBounds): string => `(async () => {
  ${hideCaret}
  ${removeNotices}
  const imagesLeft = await (${awaitContent})(scrollY, scrollY + innerHeight, ${contentMs})
  return { imagesLeft, isScrolled: true, hasLoader: (${showsLoader})() }
})()`

/**
 * Scrolls through a part of the page by viewports to load lazy content, waits for its content, then scrolls to its top. A step
 * ends when the page has noticed it. `range` is an expression for the part's `from` and `to` in CSS pixels; `to` may grow
 * meanwhile.
 */
const settleRange = (range: string, bounds: SettleBounds, frame = 'undefined'): string => {
  const { heightMax, scrollMs, contentMs } = bounds
  return `(async () => {
  ${hideCaret}
  ${removeNotices}
  const range = ${range}
  const end = performance.now() + ${scrollMs}
  const below = () => Math.min(range.to, range.from + ${heightMax})
  let isScrolled = true
  for (let y = range.from; isScrolled && y < below(); y += innerHeight) {
    if (y !== scrollY) scrollTo({ top: y, behavior: 'instant' })
    isScrolled = await (${awaitObserved})(end - performance.now())
  }
  if (!isScrolled) (${loadLazyImages})(range.from, below())
  const imagesLeft = await (${awaitContent})(range.from, below(), ${contentMs})
  if (range.from !== scrollY) scrollTo({ top: range.from, behavior: 'instant' })
  await ${twoFrames}
  return { imagesLeft, isScrolled, hasLoader: (${showsLoader})(), frame: ${frame} }
})()`
}

/** Settles the whole page, down to `heightMax`, including an inner scroll container. */
const settleFullPage = (bounds: SettleBounds, isWide: boolean): string =>
  settleRange(
    `((${expandScroller})(${bounds.heightMax}, undefined, ${isWide}), {
      from: 0, get to() { return (document.scrollingElement ?? document.documentElement).scrollHeight }
    })`,
    bounds,
    `(${measureFrame})()`,
  )

/** What makes a page react to scrolling: scripts, and what the browser itself loads late. */
const reacting = 'script:not([type*=json i]), iframe, frame, object, embed, [loading=lazy]'

/** Most CSS pixels of a document that are scrolled through for paper, if it has them from the start. */
const paperHeightMax = 200_000

/**
 * Settles all of a page that is to be printed, and the column that scrolls in its place, without a change of its layout, which
 * paper decides. What a page appends while it is scrolled counts down to `heightMax`. A page that cannot react is not scrolled.
 */
const settlePages = ({ heightMax, scrollMs, contentMs }: SettleBounds): string => `(async () => {
  ${hideCaret}
  ${removeNotices}
  const end = performance.now() + ${scrollMs}
  const root = document.scrollingElement ?? document.documentElement
  const reacts = document.querySelector(${JSON.stringify(reacting)}) !== null
  const scroller = (reacts && (${findScroller})()) || root
  const lowest = Math.min(${paperHeightMax}, Math.max(${heightMax}, scroller.scrollHeight))
  const step = Math.max(100, Math.min(innerHeight, scroller.clientHeight))
  // Timers and observers of a document in a sandbox without scripts are never called, nor can it react then.
  const threeFrames = () => new Promise((done) => {
    let left = 3
    const next = () => ((left -= 1) < 0 ? done(true) : requestAnimationFrame(next))
    next()
  })
  let isScrolled = true
  const inView = reacts && scroller.scrollHeight > scroller.clientHeight && (${watchShownInView})()
  for (let y = step; reacts && isScrolled && y < Math.min(lowest, scroller.scrollHeight); y += step) {
    scroller.scrollTo({ top: y, behavior: 'instant' })
    isScrolled = (await Promise.race([(${awaitObserved})(end - performance.now()), threeFrames()])) && performance.now() < end
    if (inView) inView.note()
  }
  if (!isScrolled) (${loadLazyImages})(-Infinity, Infinity)
  if (scroller.scrollTop !== 0) scroller.scrollTo({ top: 0, behavior: 'instant' })
  const imagesLeft = await (${awaitContent})(-Infinity, Infinity, ${contentMs})
  if (inView) inView.keep()
  return { imagesLeft, isScrolled, hasLoader: (${showsLoader})() }
})()`

/** Settles one element, after expanding the inner scroll container that it does not fit into, and scrolling all its ancestors to show it. */
const settleElement = (selector: string, bounds: SettleBounds): string =>
  settleRange(
    `((found) => {
      if (found) (${expandScroller})(${bounds.heightMax}, found)
      found?.scrollIntoView({ behavior: 'instant', block: 'nearest', inline: 'nearest' })
      const { top = 0, bottom = 0 } = (found && (${boxOf})(found)) ?? {}
      return { from: Math.max(0, top + scrollY), to: bottom + scrollY }
    })(${findFirst(selector)})`,
    bounds,
  )

/** Fractions of the time for settling: for scrolling, and for fonts and images; what remains is for other loads. */
const scrollPart = 1 / 2
const contentPart = 1 / 4

const scriptFor = (subject: Subject, bounds: SettleBounds): string => {
  if (subject.kind === 'element') return settleElement(subject.selector, bounds)
  if (subject.kind === 'pages') return settlePages(bounds)
  return subject.kind === 'full-page' ? settleFullPage(bounds, !subject.isCutToWidth) : settleViewport(bounds)
}

/** Longest wait for what the page fetches, before and after it is scrolled together. */
const fetchesMs = 2000

/** Time after a fetch in which the page takes its loader away. */
const afterFetchMs = 250
const loaders = [
  '[role=progressbar]',
  '[aria-busy=true]',
  ...['load', 'progress', 'skeleton', 'spin'].flatMap((name) => [`[class*=${name} i]`, `[id*=${name} i]`]),
].join()

/** Whether the page shows something that may be a loader, by its name, such as a bar: enough to wait for a quarter of a second, not for two (`showsLoader`). */
const mayShowLoader = `[...document.querySelectorAll('${loaders}')].slice(0, 200).some((element) => element.checkVisibility())`

/**
 * Waits for what is in flight, and what the page then shows and loads, for `waitMs` at most; not at all if nothing is in flight
 * or was fetched right before. A page that shows a loader must then be unchanged for `afterFetchMs`.
 */
const awaitLoads = async (open: Settling, inFlight: () => number, waitMs: number): Promise<void> => {
  const endsAt = performance.now() + waitMs
  const loaderMs = () => Math.max(0, afterFetchMs - open.loads.sinceFetchMs())
  let isBusy = inFlight() > 0
  if (waitMs <= 0 || (!isBusy && loaderMs() === 0)) return
  do {
    await waitUntil(() => inFlight() === 0, endsAt)
    const fetchedMs = Math.ceil(loaderMs())
    const wait = (bounds: string) => `(${awaitUnchanged})(${bounds})`
    const expression = (leftMs: number) =>
      `${mayShowLoader} ? ${wait(`${fetchedMs}, ${afterFetchMs}, ${leftMs}`)} : ${isBusy} && ${wait(`0, undefined, ${leftMs}`)}`
    await runInLatestDocument(open, expression, endsAt)
    isBusy = inFlight() > 0
  } while (isBusy && performance.now() < endsAt)
}

type Settling = Pick<OpenPage, 'session' | 'mainFrameId' | 'document' | 'loads' | 'frameSessions'>

/**
 * Settles the page before it is shot: waits for what it fetches, scrolls lazy content of a full page or an element into view,
 * waits for fonts, images and backgrounds, and until the document stops changing. If the page navigates meanwhile, retries in the
 * new document, within `waitMs` and three attempts at most. Bounded unless the renderer hangs.
 */
export const settle = async (
  open: Settling,
  subject: Subject,
  { heightMax, waitMs }: { readonly heightMax: number; readonly waitMs: number },
): Promise<Settled> => {
  const began = performance.now()
  const mostFetchesMs = Math.min(fetchesMs, waitMs * contentPart)
  const { fetchesInFlight, visualsInFlight } = open.loads
  await awaitLoads(open, fetchesInFlight, mostFetchesMs)
  const fetchesLeftMs = mostFetchesMs - (performance.now() - began)
  const script = (leftMs: number) =>
    scriptFor(subject, { heightMax, scrollMs: leftMs * scrollPart, contentMs: leftMs * contentPart })
  const run = async () => (await runInLatestDocument(open, script, began + waitMs)) as Settled | undefined
  let settled = await run()
  const frame = settled?.frame
  // Fails if the page navigates meanwhile, or a frame hangs; it is then shot as it is.
  const late = () => new Error('the frames did not respond in time')
  const grow = (size: FrameSize) => within(growFrame(open, size, heightMax), began + waitMs - performance.now(), late)
  if (frame && (await grow(frame).catch(() => false))) settled = await run()
  await awaitLoads(open, fetchesInFlight, fetchesLeftMs)
  // Includes what CSS and scripts have requested.
  await awaitLoads(open, visualsInFlight, waitMs * contentPart)
  return settled ?? { imagesLeft: 0, isScrolled: true, hasLoader: false }
}
