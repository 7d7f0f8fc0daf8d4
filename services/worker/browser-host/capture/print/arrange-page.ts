import { findScroller } from '#worker/browser-host/capture/page/largest-part.ts'
import { contains, elementsMax, everyElement, setStyles } from '#worker/browser-host/capture/page/open-roots.ts'
import { paintMargins } from './paint-margins.ts'
import { readPrintStyles } from './read-print-styles.ts'

/** Lays out the column that scrolls in place of the document in full length: what scrolls is cut at the first page. */
const openScroller = `(scroller) => {
  for (let at = scroller; at; at = at.assignedSlot ?? at.parentElement ?? at.getRootNode().host) {
    const { position } = getComputedStyle(at)
    const styles = { height: 'auto', 'max-height': 'none', overflow: 'visible', contain: 'none' }
    if (position === 'fixed') styles.position = 'absolute'
    if (position === 'fixed' || position === 'absolute') styles.bottom = 'auto'
    ;(${setStyles})(at, styles)
  }
}`

/** Most elements that are looked at because they are fixed. */
const fixedMax = 500

/**
 * Shows what is fixed once, as it would be on every page, over the text: at its place at the top, or, from the lower half of the
 * window, at the end. Backgrounds and watermarks, and what a rule for print places, stay. Takes elements and their boxes in the window.
 */
const standOnce = `(fixed, placed) => {
  const set = ${setStyles}
  const standing = fixed.slice(0, ${fixedMax}).filter(({ element }) =>
    getComputedStyle(element).position === 'fixed' && !element.matches(placed))
  for (const { element, isLow, display } of standing) {
    // Out of the flow, an element that is inline is a block.
    set(element, isLow ? { position: 'static', display, 'break-inside': 'avoid' } : { position: 'absolute' })
  }
  const middle = document.documentElement.scrollHeight / 2
  const early = standing.filter(({ element, isLow }) => isLow && element.getBoundingClientRect().top + scrollY < middle)
  // Appended, frames in it would load again.
  for (const { element } of early) document.body?.moveBefore(element, null)
}`

/** A page of the height of the window and little more, as of a body with margins, would get another page for that little. */
const fitHeight = `(elements) => {
  const over = (document.scrollingElement ?? document.documentElement).scrollHeight - innerHeight
  if (over <= 0 || over > innerHeight / 4) return
  const isAsHigh = (length) => Math.abs(length - innerHeight) <= 1
  // With padding besides, an element is higher than its style says.
  const asHigh = elements.filter((element) =>
    isAsHigh(element.offsetHeight) ||
    (element.offsetHeight > innerHeight && ['height', 'min-height'].some((name) => isAsHigh(element.computedStyleMap().get(name)?.value))))
  const height = 'calc(100vh - ' + over + 'px)'
  for (const element of asHigh) {
    const styles = element.computedStyleMap()
    const hasHeight = String(styles.get('height')) !== 'auto'
    const hasLeast = !['auto', '0px'].includes(String(styles.get('min-height')))
    ;(${setStyles})(element, { ...(hasHeight && { height }), ...(hasLeast && { 'min-height': height }) })
  }
}`

/** Most tables and blocks of code that are looked at, and most boxes around one. */
const blocksMax = 500
const depthMax = 100

/** Wraps lines of code, and shows the whole of tables, that would be cut at the side of what scrolls them. */
const openSideways = `() => {
  const set = ${setStyles}
  const isWide = ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1
  for (const block of [...document.querySelectorAll('pre')].slice(0, ${blocksMax})) {
    const parts = [block, ...block.querySelectorAll('code')]
    if (!parts.some(isWide)) continue
    for (const part of parts) set(part, { 'white-space': 'pre-wrap', 'overflow-wrap': 'anywhere' })
  }
  for (const table of [...document.querySelectorAll('table')].slice(0, ${blocksMax})) {
    let depth = 0
    for (let at = table.parentElement; at && at !== document.body && depth < ${depthMax}; at = at.parentElement) {
      depth += 1
      const { overflowX } = getComputedStyle(at)
      if (overflowX === 'hidden' || overflowX === 'clip') break
      if (isWide(at)) set(at, { overflow: 'visible' })
    }
  }
}`

/** Width in CSS pixels that the page's content takes in a document of `width`; 0 if the page cuts it off itself. */
const fitSides = `(width, fitsWidth) => {
  const { documentElement: root, body } = document
  if (!body) return 0
  const sheet = new CSSStyleSheet()
  const before = [...document.adoptedStyleSheets]
  sheet.replaceSync(':root { width: ' + width + 'px !important }')
  document.adoptedStyleSheets = [...before, sheet]
  if (fitsWidth) (${openSideways})()
  const isCut = [root, body].some((each) => ['hidden', 'clip'].includes(getComputedStyle(each).overflowX))
  const needed = isCut ? 0 : body.getBoundingClientRect().left + scrollX + body.scrollWidth
  document.adoptedStyleSheets = before
  return Math.ceil(needed)
}`

/** What a page on paper needs besides. */
export type Arranged = {
  /** Nothing was arranged: pictures must be laid in first, as the page shows a canvas or has frames of other sites. */
  readonly needsPictures?: true
  /** Nothing was arranged: the page has styles for print, which must apply first. */
  readonly needsPrint?: true
  /** About the CSS pixels of width that its content takes on this paper; 0 if that does not matter. */
  readonly width: number
  readonly setsPageSize: boolean
  /** Colour of text on margins that are not white; null if they are. */
  readonly colour: string | null
}

/** The paper that a page is arranged for. */
export type Paper = {
  /** CSS pixels of its width that content may take. */
  readonly width: number
  /** Whether what is cut off at the side is shown. */
  readonly fitsWidth: boolean
  /** Whether its margins have the colour of the page's ground. */
  readonly hasGround: boolean
}

/** What was done to the page before: its pictures are laid in, its styles are those of paper. */
export type Before = { readonly hasPictures: boolean; readonly hasStyles: boolean }

/** Evaluates to whether the page shows a canvas. */
const showsCanvas = `(${everyElement})(document).some((each) => each.localName === 'canvas' && each.checkVisibility())`

/**
 * A script that arranges a page for pages of paper, once its styles are those of paper: a column that scrolls is shown in full, bars
 * that are fixed stand once. Evaluates to `Arranged`.
 */
export const arrangePage = (
  { width, fitsWidth, hasGround }: Paper,
  { hasPictures, hasStyles }: Before,
): string => `(() => {
  if (!${hasPictures} && ${showsCanvas}) return { needsPictures: true }
  const styles = (${readPrintStyles})()
  if (!${hasStyles} && styles.areForPrint) return { needsPrint: true }
  const holds = ${contains}
  const middle = document.elementFromPoint(innerWidth / 2, innerHeight / 2)
  const elements = (${everyElement})(document).slice(0, ${elementsMax})
  const fixed = elements.flatMap((element) => {
    const { position, zIndex, pointerEvents, display } = getComputedStyle(element)
    // A fixed element inside a transformed one has an offset parent.
    if (position !== 'fixed' || element.offsetParent || zIndex < 0 || pointerEvents === 'none') return []
    const { left, top, right, bottom, width, height } = element.getBoundingClientRect()
    if (width === 0 || height === 0 || right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight) return []
    const isBackground = width >= innerWidth && height >= innerHeight && !holds(element, middle)
    return isBackground || !element.checkVisibility({ visibilityProperty: true }) ? [] : [{ element, display, isLow: top + height / 2 > innerHeight / 2 }]
  })
  ;(${fitHeight})(elements)
  ;(${openScroller})((${findScroller})())
  ;(${standOnce})(fixed, styles.placed)
  const needed = (${fitSides})(${width}, ${fitsWidth})
  return { width: needed, setsPageSize: styles.setPageSize, colour: ${hasGround ? paintMargins : 'null'} }
})()`
