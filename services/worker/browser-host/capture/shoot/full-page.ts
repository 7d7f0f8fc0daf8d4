import { contains, everyElement, setStyles } from '#worker/browser-host/capture/page/open-roots.ts'
import { findFirst } from '#worker/browser-host/capture/page/selectors.ts'
import type { Subject } from '#worker/browser-host/capture/plan/plan-capture.ts'

/**
 * Expands an inner container that scrolls instead of the document to the height of its content, at most `heightMax`, and its
 * ancestors by as much, so that the full page shows all of it, or all of the element `shown`: a container that does not scroll it, or
 * shows all of it, is left alone then. Does nothing if the document scrolls, or if no scroll container covers half of the window.
 * Searches open shadow roots too, unless 5000 elements are listed already.
 */
export const expandScroller = `(heightMax, shown) => {
  if ((document.scrollingElement ?? document.documentElement).scrollHeight > innerHeight + 1) return
  const elements = [...document.querySelectorAll('*')]
  let scroller, areaMax = innerWidth * innerHeight / 2
  for (const element of elements) {
    if (elements.length < 5000 && element.shadowRoot) elements.push(...element.shadowRoot.querySelectorAll('*'))
    const { clientWidth, clientHeight, scrollHeight } = element
    const area = Math.min(clientWidth, innerWidth) * Math.min(clientHeight, innerHeight)
    if (scrollHeight <= clientHeight + 1 || area < areaMax) continue
    if (!['auto', 'scroll', 'overlay'].includes(getComputedStyle(element).overflowY)) continue
    if (shown && (shown === element || shown.offsetHeight <= clientHeight || !(${contains})(element, shown))) continue
    scroller = element
    areaMax = area
  }
  if (!scroller) return
  const more = Math.min(heightMax, scroller.scrollHeight) - scroller.clientHeight
  scroller.scrollTop = 0
  const heights = []
  for (let at = scroller; at; at = at.assignedSlot ?? at.parentElement ?? at.getRootNode().host) heights.push([at, at.offsetHeight])
  for (const [element, height] of heights) {
    const style = {
      'box-sizing': 'border-box', height: 'auto', 'min-height': height + more + 'px', 'max-height': 'none', overflow: 'visible',
    }
    const { position } = getComputedStyle(element)
    // Fixed elements do not add to the document's height.
    if (position === 'fixed') style.position = 'absolute'
    if (position === 'fixed' || position === 'absolute') style.bottom = 'auto'
    for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value, 'important')
  }
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
