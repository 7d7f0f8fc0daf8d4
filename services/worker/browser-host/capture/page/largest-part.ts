import { elementsMax, everyElement } from './open-roots.ts'

/** Part of the window that a scroll container or frame must cover, to be taken for the page. */
const leastPart = 1 / 3

/** A function: of the elements that are `wanted`, the largest in the window that may be taken for the page; undefined if there is none. */
export const findLargest = `(elements, wanted) => {
  let found
  let areaMax = innerWidth * innerHeight * ${leastPart}
  for (const element of elements) {
    const area = Math.min(element.clientWidth, innerWidth) * Math.min(element.clientHeight, innerHeight)
    if (area < areaMax || !wanted(element)) continue
    found = element
    areaMax = area
  }
  return found
}`

/** A function: whether an element has more content along an axis, X or Y, than it shows, and scrolls to it. */
export const scrollsAlong = `(element, axis) => {
  const [content, shown] = axis === 'X'
    ? [element.scrollWidth, element.clientWidth]
    : [element.scrollHeight, element.clientHeight]
  return content > shown + 1 && ['auto', 'scroll', 'overlay'].includes(getComputedStyle(element)['overflow' + axis])
}`

/**
 * A function that finds the element that scrolls in place of the document, as the column of an application does. Undefined if the
 * document itself scrolls by more than a quarter of the window, or if there is none.
 */
export const findScroller = `() => {
  if ((document.scrollingElement ?? document.documentElement).scrollHeight > innerHeight * 1.25) return undefined
  return (${findLargest})((${everyElement})(document).slice(0, ${elementsMax}), (element) => (${scrollsAlong})(element, 'Y'))
}`
