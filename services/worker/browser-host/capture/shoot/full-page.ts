import { findLargest, scrollsAlong } from '#worker/browser-host/capture/page/largest-part.ts'
import { contains, everyElement, setStyles } from '#worker/browser-host/capture/page/open-roots.ts'
import { findFirst } from '#worker/browser-host/capture/page/selectors.ts'
import type { Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'

/** A function that makes an element larger by `width` and `height` CSS pixels, and its ancestors by as much, so that nothing is cut off. */
const enlarge = `(inner, { width, height }) => {
  const sizes = []
  for (let at = inner; at; at = at.assignedSlot ?? at.parentElement ?? at.getRootNode().host) sizes.push([at, at.offsetWidth, at.offsetHeight])
  for (const [element, ownWidth, ownHeight] of sizes) {
    const styles = { 'box-sizing': 'border-box', overflow: 'visible' }
    if (height > 0) Object.assign(styles, { height: 'auto', 'min-height': ownHeight + height + 'px', 'max-height': 'none' })
    if (width > 0) Object.assign(styles, { 'min-width': ownWidth + width + 'px', 'max-width': 'none' })
    const { position } = getComputedStyle(element)
    // Fixed elements do not add to the document's height.
    if (position === 'fixed') styles.position = 'absolute'
    if (position === 'fixed' || position === 'absolute') styles.bottom = 'auto'
    ;(${setStyles})(element, styles)
  }
}`

/** A function: whether the document scrolls, so that no part of it is taken for the page. */
const documentScrolls = `() => (document.scrollingElement ?? document.documentElement).scrollHeight > innerHeight + 1`

/**
 * Expands the largest inner container that scrolls instead of the document to the height of its content, at most `heightMax`, so
 * that the full page shows all of it, or all of the element `shown`: a container that does not scroll it, or shows all of it, is
 * left alone then; if `shown` scrolls by itself, it is expanded. With `isWide`, one that scrolls sideways is expanded to the width of
 * its content too, unless it snaps, as sliders do. Other containers keep their height. Does nothing if the document scrolls, or if no
 * container covers a third of the window.
 */
export const expandScroller = `(heightMax, shown, isWide = false) => {
  const isTall = (element) => (${scrollsAlong})(element, 'Y')
  const isBroad = (element) => (isWide || element === shown) && (${scrollsAlong})(element, 'X') && getComputedStyle(element).scrollSnapType === 'none'
  const isOwn = Boolean(shown) && (isTall(shown) || isBroad(shown))
  if (!isOwn && (${documentScrolls})()) return
  const containers = (${everyElement})(document).filter((element) => isTall(element) || isBroad(element))
  const mayBePage = (element) => !shown || (shown !== element && shown.offsetHeight > element.clientHeight && (${contains})(element, shown))
  const scroller = isOwn ? shown : (${findLargest})(containers, mayBePage)
  if (!scroller) return
  const height = isTall(scroller) ? Math.min(heightMax, scroller.scrollHeight) - scroller.clientHeight : 0
  const width = isBroad(scroller) ? Math.min(heightMax, scroller.scrollWidth) - scroller.clientWidth : 0
  scroller.scrollTo({ top: 0, left: 0, behavior: 'instant' })
  const others = containers.filter((element) => !(${contains})(element, scroller))
  const heights = others.map((element) => element.offsetHeight)
  for (const [index, element] of others.entries()) {
    (${setStyles})(element, { 'box-sizing': 'border-box', height: heights[index] + 'px' })
  }
  ;(${enlarge})(scroller, { width, height })
}`

/** A function that finds the largest frame, if the document does not scroll and it covers a third of the window. */
const findFrame = `() => (${documentScrolls})() ? undefined : (${findLargest})(document.querySelectorAll('iframe, frame, object, embed'), () => true)`

/** A function: the size of the frame that is taken for the page, in CSS pixels; undefined if there is none. */
export const measureFrame = `() => {
  const found = (${findFrame})()
  return found && { width: found.clientWidth, height: found.clientHeight }
}`

/** A function that makes the frame that is taken for the page `height` CSS pixels high. */
export const expandFrame = `(height) => {
  const found = (${findFrame})()
  if (found) (${enlarge})(found, { width: 0, height: height - found.clientHeight })
}`

/**
 * Moves fixed elements near the bottom of the window to the bottom of a full page of `height` CSS pixels, and elements sticky
 * to the bottom to their position in the flow, so that they appear once and do not cover the middle of the page. Searches
 * the first 5000 elements; open shadow roots too, unless 5000 elements are listed already.
 */
const pinBars = (height: number, viewHeight: number): string => `(() => {
  const below = ${height} - innerHeight
  if (below <= 0 && innerHeight <= ${viewHeight}) return
  const set = ${setStyles}
  const elements = [...document.querySelectorAll('*')].slice(0, 5000)
  for (const element of elements) {
    if (elements.length < 5000 && element.shadowRoot) elements.push(...element.shadowRoot.querySelectorAll('*'))
    const { position, top, bottom, translate, backgroundAttachment } = getComputedStyle(element)
    // Beyond the viewport nothing of it is drawn, and in one of the height of the page it is as large as that.
    const isOwn = below > 0 || !element.matches('html, body')
    if (isOwn && backgroundAttachment.includes('fixed')) set(element, { 'background-attachment': 'scroll' })
    if (below <= 0) continue
    if (position === 'sticky' && top === 'auto' && bottom !== 'auto') set(element, { position: 'relative', bottom: 'auto' })
    // A fixed element inside a transformed one has an offset parent, and scrolls with it.
    if (position !== 'fixed' || element.offsetParent || translate !== 'none') continue
    const box = element.getBoundingClientRect()
    const isBar = box.height > 0 && box.height < innerHeight / 2 && box.bottom <= innerHeight
    if (isBar && innerHeight - box.bottom < Math.min(box.top, innerHeight / 4)) {
      set(element, { translate: '0 ' + below + 'px', transition: 'none' })
    }
  }
})()`

/** Hides fixed and sticky elements, and dialogs, that could lie over an element, unless they contain it or it contains them. */
const hideBars = (selector: string): string => `((found) => {
  if (!found) return
  const holds = ${contains}
  for (const element of (${everyElement})(document)) {
    if (!['fixed', 'sticky'].includes(getComputedStyle(element).position)) continue
    if (holds(element, found) || holds(found, element)) continue
    ;(${setStyles})(element, { visibility: 'hidden', opacity: '0', transition: 'none' })
  }
})(${findFirst(selector)})`

/** A script that arranges what is fixed or sticky for the picture of a subject of `height` CSS pixels; `viewHeight` is that of the requested viewport. */
export const arrangeBars = (subject: Subject, height: number, viewHeight: number): string | undefined => {
  if (subject.kind === 'element') return hideBars(subject.selector)
  return subject.kind === 'full-page' && !subject.inSections ? pinBars(height, viewHeight) : undefined
}
