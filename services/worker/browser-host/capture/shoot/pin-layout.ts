import { pause, twoFrames } from '#worker/browser-host/capture/page/page-frames.ts'
import { contains, elementsMax, everyElement, setStyles } from '#worker/browser-host/capture/page/open-roots.ts'

/** Properties in which a length may follow the height of the viewport, besides `height` and the position. */
const properties = [
  'font-size',
  'min-height',
  'max-height',
  'padding-top',
  'padding-bottom',
  'margin-top',
  'margin-bottom',
  'row-gap',
]

/** Most rounds in which elements are pinned: what pinning some restores need not be pinned. */
const roundsMax = 6

/** Part of the viewport's height below which an element that grows later is taken to have got content. */
const leastPartAgain = 0.2

/** Most times that styles are set again which a script has replaced. */
const keptMax = 100

/** Longest wait, in milliseconds, until the page has noticed its new height. */
const noticeMs = 1000

/**
 * A function that records the layout of the page, at its top, before the height of the viewport changes. `queries`: the media
 * queries of its styles that depend on the height. Returns that height in CSS pixels.
 */
export const recordLayout = `async (queries) => {
  const holds = ${contains}
  const middle = document.elementFromPoint(innerWidth / 2, innerHeight / 2)
  const covers = ({ left, right, top, bottom }) => left <= 0 && top <= 0 && right >= innerWidth && bottom >= innerHeight
  const record = (element) => {
    const style = getComputedStyle(element)
    const box = element.getBoundingClientRect()
    const { position, top, height } = style
    const values = ${JSON.stringify(properties)}.map((name) => style.getPropertyValue(name))
    const isOverlay = position === 'fixed' && covers(box) && holds(element, middle)
    return { element, box, position, isOverlay, top, height, values }
  }
  // These would have no effect once the page no longer scrolls.
  const followsScroll = ({ timeline }) => timeline instanceof ScrollTimeline && !(timeline instanceof ViewTimeline)
  const scrolled = document.getAnimations().filter(followsScroll)
  for (const animation of scrolled) animation.pause()
  if (scrolled.length > 0) await ${twoFrames}
  globalThis.shutterfleetLayout = {
    innerHeight,
    queries: queries.map((query) => [query, matchMedia(query).matches]),
    elements: (${everyElement})(document).slice(0, ${elementsMax}).map(record),
  }
  return innerHeight
}`

/**
 * Waits until the viewport is `height` CSS pixels high, then gives the elements whose size or position follows its height what
 * they had when the layout was recorded. Bars that are fixed, and backgrounds, grow and move with it. Resolves to false, and
 * changes nothing, if a media query of the page decides otherwise at this height. `isAgain`: only elements that have grown by a
 * simple part of the viewport's gain, since scripts have set them; what these set later has no effect.
 */
export const pinLayout = `async (height, isAgain) => {
  const { innerHeight: before, queries, elements } = globalThis.shutterfleetLayout
  const noticedBy = performance.now() + ${noticeMs}
  do await new Promise((done) => { (${pause})(100).then(done); requestAnimationFrame(() => done()) })
  while (innerHeight !== height && performance.now() < noticedBy)
  if (innerHeight !== height || queries.some(([query, matches]) => matchMedia(query).matches !== matches)) return false

  const setStyles = ${setStyles}
  let kept = 0
  /** Scripts may set them again whenever the size of something changes. */
  const keepStyles = (element, styles) => {
    const isLost = () => Object.keys(styles).some((name) => element.style?.getPropertyPriority(name) !== 'important')
    const keeper = new MutationObserver(() => {
      if (isLost() && (kept += 1) <= ${keptMax}) setStyles(element, styles)
    })
    keeper.observe(element, { attributes: true, attributeFilter: ['style'] })
  }
  const names = ${JSON.stringify(properties)}
  const parentOf = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host
  const free = new Set(elements.filter(({ position, isOverlay }) => position === 'fixed' && !isOverlay).map(({ element }) => element))
  const isFree = (element) => {
    for (let at = element; at; at = parentOf(at)) if (free.has(at)) return true
    return false
  }
  const recorded = new Map(elements.map((each) => [each.element, each]))
  const isGrown = ({ element, box }) => Math.abs(element.getBoundingClientRect().height - box.height) > 1
  /** Whether the length that an element has gained, or has, is a simple part of the viewport's. */
  const followsHeight = ({ element, box }) => {
    const now = element.getBoundingClientRect().height
    return [[now - box.height, height - before], [now, height]].some(([own, whole]) => {
      const part = Math.round((own / whole) * 20) / 20
      return part > (isAgain ? ${leastPartAgain} : 0) && Math.abs(own - part * whole) <= 2
    })
  }
  const isBound = (each) => each.element.isConnected && !isFree(each.element) && (!isAgain || (isGrown(each) && followsHeight(each)))
  const changedValues = ({ element, values }) => {
    const style = getComputedStyle(element)
    return names.flatMap((name, at) => {
      if (style.getPropertyValue(name) === values[at]) return []
      // Inherited: pinned where it is set.
      const parent = name === 'font-size' && recorded.get(parentOf(element))
      return parent && getComputedStyle(parent.element).fontSize !== parent.values[at] ? [] : [[name, values[at]]]
    })
  }
  const changedHeight = (each, grown) => {
    const { element, height } = each
    if (!grown.has(element)) return []
    const hasHeight = String(element.computedStyleMap().get('height')) !== 'auto'
    return hasHeight || each.isOverlay || each.position === 'absolute' ? [['height', height]] : []
  }
  /** The grown elements inside which none has grown, such as rows of a grid and what fills the whole viewport. */
  const innermost = (bound, grown) => {
    const outer = new Set([...grown].map(parentOf))
    return bound.flatMap((each) => {
      const { element, height } = each
      if (!grown.has(element) || outer.has(element) || !followsHeight(each)) return []
      return [[element, [['height', height], ['min-height', '0px']]]]
    })
  }
  const moved = () => elements.flatMap(({ element, box, position, top }) => {
    if (!['absolute', 'relative', 'fixed'].includes(position) || !element.isConnected) return []
    if (position !== 'fixed' && isFree(element)) return []
    if (getComputedStyle(element).top === top) return []
    const below = before - box.bottom
    const isBar = box.height > 0 && box.height < before / 2 && below >= 0 && below < Math.min(box.top, before / 4)
    return position === 'fixed' && isBar ? [] : [[element, [['top', top], ['bottom', 'auto']]]]
  })
  for (let round = 0; round < ${roundsMax}; round += 1) {
    const bound = elements.filter(isBound)
    const grown = new Set(bound.filter(isGrown).map(({ element }) => element))
    let pins = bound.map((each) => [each.element, [...changedValues(each), ...changedHeight(each, grown)]]).filter(([, values]) => values.length > 0)
    if (pins.length === 0) pins = innermost(bound, grown)
    if (pins.length === 0 && !isAgain) pins = moved()
    if (pins.length === 0) break
    for (const [element, values] of pins) {
      const styles = Object.fromEntries([...values, ['transition', 'none']])
      setStyles(element, styles)
      if (isAgain) keepStyles(element, styles)
    }
  }
  return true
}`
