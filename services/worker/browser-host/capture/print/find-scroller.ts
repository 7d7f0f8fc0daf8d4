import { everyElement, elementsMax } from '#worker/browser-host/capture/page/open-roots.ts'

/** Part of the window that a scroller covers at least, to be taken for the content of the page. */
const leastPart = 1 / 3

/**
 * A function that finds the element that scrolls in place of the document, as the column of an application does: the largest that covers a
 * third of the window. Null if the document itself scrolls by more than a quarter of the window, or if there is none.
 */
export const findScroller = `() => {
  if ((document.scrollingElement ?? document.documentElement).scrollHeight > innerHeight * 1.25) return null
  let scroller = null
  let areaMax = innerWidth * innerHeight * ${leastPart}
  for (const element of (${everyElement})(document).slice(0, ${elementsMax})) {
    const { clientWidth, clientHeight, scrollHeight } = element
    const area = Math.min(clientWidth, innerWidth) * Math.min(clientHeight, innerHeight)
    if (scrollHeight <= clientHeight + 1 || area < areaMax) continue
    if (!['auto', 'scroll', 'overlay'].includes(getComputedStyle(element).overflowY)) continue
    scroller = element
    areaMax = area
  }
  return scroller
}`
