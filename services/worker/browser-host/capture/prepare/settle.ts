import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { findFirst } from '#worker/browser-host/capture/page/selectors.ts'
import { waitUntil } from '#worker/browser-host/capture/page/wait-until.ts'
import { runInLatestDocument } from '#worker/browser-host/capture/page/world.ts'
import type { Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { expandScroller } from '#worker/browser-host/capture/shoot/full-page.ts'

/** Resolves when the page has drawn two frames, so that what follows the scroll position is in its place; after 500 ms in any case. */
const twoFrames = `new Promise((done) => {
  setTimeout(done, 500)
  requestAnimationFrame(() => requestAnimationFrame(() => done()))
})`

/** Most that a page which goes on changing is waited for, and how long it must have stayed as it is. */
const restMs = 1000
const changelessMs = 100

/**
 * Resolves once the document has not changed for two frames; where it has, once it has not for a tenth of a second, after a
 * second in any case.
 */
const rest = `async () => {
  const began = performance.now()
  let changedAt
  const changes = new MutationObserver(() => { changedAt = performance.now() })
  changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  do await ${twoFrames}
  while (changedAt !== undefined && performance.now() - changedAt < ${changelessMs} && performance.now() - began < ${restMs})
  changes.disconnect()
}`

/** How often images are looked at whose events do not come. */
const imagesLookMs = 100

/**
 * Waits for fonts, and for the images that show between `fromPx` and `belowPx` of the page, for at most `waitMs`.
 * Resolves to the number of images that have not come. Images beyond the 500th are not looked at.
 */
const awaitContent = `async (fromPx, belowPx, waitMs) => {
  const wanted = [...document.images].slice(0, 500).filter((image) => {
    const { top, bottom, width } = image.getBoundingClientRect()
    return width > 0 && bottom + scrollY > fromPx && top + scrollY < belowPx && (image.currentSrc || image.src) !== ''
  })
  // They are decoded where they are drawn, at the size that they have there: decode() would do so once more, and in full.
  const left = new Set(wanted.filter((image) => !image.complete))
  const { promise: ended, resolve } = Promise.withResolvers()
  const look = () => {
    for (const image of left) if (image.complete) left.delete(image)
    if (left.size === 0) resolve()
  }
  for (const image of left) for (const type of ['load', 'error']) image.addEventListener(type, look)
  // A page can stop these events on their way to the image.
  const looks = setInterval(look, ${imagesLookMs})
  look()
  const late = new Promise((done) => setTimeout(done, waitMs))
  await Promise.race([Promise.all([document.fonts.ready, ended, (${rest})()]), late])
  clearInterval(looks)
  // What stands in the place of a broken image is drawn a frame after it has failed.
  if (wanted.some((image) => image.complete && image.naturalWidth === 0)) await ${twoFrames}
  return left.size
}`

/** On a busy machine a step may be over before the browser has noticed which images came near; now all of them are. */
const loadLazyImages = `(fromPx, belowPx) => {
  for (const image of [...document.images].slice(0, 500)) {
    const { top, bottom } = image.getBoundingClientRect()
    const isNear = bottom + scrollY > fromPx && top + scrollY < belowPx
    if (isNear && image.loading === 'lazy' && !image.complete) image.loading = 'eager'
  }
}`

/** A blinking caret would make two pictures of one page differ. */
const hideCaret = `document.activeElement?.style?.setProperty('caret-color', 'transparent', 'important')`

/** Bounds of settling: of the page in CSS pixels, of scrolling, and of waiting for fonts and images. */
export type SettleBounds = { readonly heightMax: number; readonly scrollMs: number; readonly contentMs: number }

/** Settles what is in the viewport: fonts loaded, images decoded; the shot itself waits for a frame. Gives the number of images left undecoded. */
const settleViewport = ({ contentMs }: SettleBounds): string => `(async () => {
  ${hideCaret}
  return (${awaitContent})(scrollY, scrollY + innerHeight, ${contentMs})
})()`

/**
 * Scrolls by viewports through a part of the page, so that lazy content loads, then goes to its top and settles it. `range` is
 * an expression whose value has the part's `from` and `to`, which may grow meanwhile.
 */
const settleRange = (range: string, { heightMax, scrollMs, contentMs }: SettleBounds): string => `(async () => {
  ${hideCaret}
  const range = ${range}
  const end = performance.now() + ${scrollMs}
  const below = () => Math.min(range.to, range.from + ${heightMax})
  const frame = () => new Promise((done) => { setTimeout(done, 100); requestAnimationFrame(() => done()) })
  if (range.from !== scrollY) scrollTo({ top: range.from, behavior: 'instant' })
  for (let y = range.from + innerHeight; y < below(); y += innerHeight) {
    if (performance.now() > end) break
    scrollTo({ top: y, behavior: 'instant' })
    await frame()
  }
  ;(${loadLazyImages})(range.from, below())
  const undecoded = await (${awaitContent})(range.from, below(), ${contentMs})
  scrollTo({ top: range.from, behavior: 'instant' })
  await ${twoFrames}
  return undecoded
})()`

/** Settles the whole page, down to `heightMax`, what an inner part scrolls included. Gives the number of images left undecoded. */
const settleFullPage = (bounds: SettleBounds): string =>
  settleRange(
    `((${expandScroller})(${bounds.heightMax}), {
      from: 0, get to() { return (document.scrollingElement ?? document.documentElement).scrollHeight }
    })`,
    bounds,
  )

/** Settles one element, which it brings into view through all that scrolls. Gives the number of images left undecoded. */
const settleElement = (selector: string, bounds: SettleBounds): string =>
  settleRange(
    `((found) => {
      found?.scrollIntoView({ behavior: 'instant', block: 'nearest', inline: 'nearest' })
      const { top = 0, bottom = 0 } = found?.getBoundingClientRect() ?? {}
      return { from: Math.max(0, top + scrollY), to: bottom + scrollY }
    })(${findFirst(selector)})`,
    bounds,
  )

/** Of the time for settling: for scrolling. A half of the rest is for content in view, and as much for what else loads. */
const scrollPart = 1 / 2
const contentPart = 1 / 4

const scriptFor = (subject: Subject, bounds: SettleBounds): string => {
  if (subject.kind === 'element') return settleElement(subject.selector, bounds)
  return subject.kind === 'full-page' ? settleFullPage(bounds) : settleViewport(bounds)
}

/**
 * Lets the page come to rest before it is shot: lazy content of a full page or an element is scrolled into view, fonts,
 * images and backgrounds are loaded, the document has stopped changing. A page that goes on to another document meanwhile
 * is followed while `waitMs` last, three times at most, and then shot as it is. Gives the number of images that could not be waited for.
 * Bounded unless the renderer hangs.
 */
export const settle = async (
  open: Pick<OpenPage, 'session' | 'mainFrameId' | 'document' | 'loads'>,
  subject: Subject,
  { heightMax, waitMs }: { readonly heightMax: number; readonly waitMs: number },
): Promise<number> => {
  const endsAt = performance.now() + waitMs
  const script = (leftMs: number) =>
    scriptFor(subject, { heightMax, scrollMs: leftMs * scrollPart, contentMs: leftMs * contentPart })
  const undecoded = Number((await runInLatestDocument(open, script, endsAt)) ?? 0)
  // Images, fonts and style sheets, whatever requested them.
  await waitUntil(() => open.loads.drawn() === 0, performance.now() + waitMs * contentPart)
  return undecoded
}
