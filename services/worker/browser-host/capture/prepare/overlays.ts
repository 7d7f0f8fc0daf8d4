import { everyElement, openRoots, unlockScroll } from '#worker/browser-host/capture/page/open-roots.ts'
import { pause } from '#worker/browser-host/capture/page/page-frames.ts'

/** Bounds of what is read; a text beyond is the page's, not an overlay's. */
const textsMax = 300
const overlayCharactersMax = 8000
const labelCharactersMax = 60

/** A function of an element: whether it, or an ancestor, is out of the page's flow: fixed, sticky, a dialog or a popover. */
export const findFloat = `(element) => {
  const isFloat = (each) =>
    ['fixed', 'sticky'].includes(getComputedStyle(each).position) || each.matches(':modal, :popover-open, dialog[open], [aria-modal=true]')
  for (let at = element; at && at !== document.body && at !== document.documentElement; at = at.assignedSlot ?? at.parentElement ?? at.getRootNode().host) {
    if (isFloat(at)) return at
  }
  return null
}`

/** A function that creates what predicates of overlays use: the text of an element, whether it is shown, its buttons and fields. */
export const overlayElements = `() => {
  const within = ${everyElement}
  const textOf = (element) => {
    const shadows = within(element).flatMap(({ shadowRoot }) => (shadowRoot ? [...shadowRoot.children] : []))
    return [element, ...(element.shadowRoot?.children ?? []), ...shadows].map((each) => each.innerText ?? '').join(' ')
  }
  const isShown = (element) => {
    const { width, height } = element.getBoundingClientRect()
    return width > 1 && height > 1 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  }
  // A table of contents and a menu have links that speak of cookies, and lead there.
  const isNavigation = (element) => {
    if (!element.matches('a[href]:not([href=""], [href="#"], [href^="javascript:" i], [role=button])')) return false
    const href = element.getAttribute('href')
    const target = href[0] === '#' ? document.getElementById(href.slice(1)) : null
    return element.closest('nav, [role=navigation]') !== null || (target !== null && target !== element)
  }
  const isButton = (element) =>
    element.matches('button, a, summary, [role=button], input[type=button], input[type=submit]') && !isNavigation(element)
  const labelOf = (element) =>
    (element.innerText || element.value || element.ariaLabel || '').trim().replaceAll('’', "'").toLowerCase()
  const isField = (element) =>
    element.matches('textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=hidden], [type=image], [type=reset])')
  const shownIn = (element) =>
    [...within(element), ...(element.shadowRoot ? within(element.shadowRoot) : [])].filter(isShown)
  const labelsOf = (shown) =>
    shown.filter(isButton).map(labelOf).filter((label) => label && label.length <= ${labelCharactersMax})
  return { textOf, isShown, shownIn, labelsOf, hasField: (shown) => shown.some(isField) }
}`

/** A function that removes what a hidden overlay had laid over the page: backdrop, blur, scroll lock. `textOf`: of an element. */
const uncover = `(textOf) => {
  const floatOf = ${findFloat}
  const corners = [[0.5, 0.5], [0.05, 0.05], [0.95, 0.05], [0.05, 0.95], [0.95, 0.95]]
  for (const [x, y] of corners) {
    const float = floatOf(document.elementFromPoint(innerWidth * x, innerHeight * y) ?? document.body)
    if (!float) continue
    const { width, height } = float.getBoundingClientRect()
    const isBare = textOf(float).trim() === '' && !float.querySelector('img, svg, canvas, video, iframe, picture')
    if (width >= innerWidth && height >= innerHeight && isBare) float.style?.setProperty('display', 'none', 'important')
  }
  for (const element of document.querySelectorAll('body, body > *, body > * > *')) {
    // Blurred shapes without text are the page's own.
    const isBlurred = getComputedStyle(element).filter.includes('blur') && element.textContent.trim() !== ''
    if (isBlurred) element.style?.setProperty('filter', 'none', 'important')
  }
  ;(${unlockScroll})()
}`

/**
 * A function of a root: hides the overlays of the root and its open shadow roots of which `predicates` holds, with what they lay
 * over the page: backdrop, blur, scroll lock. An overlay is out of the page's flow; its text `concerns` the predicates' subject, and
 * a part of it `asks`. Resolves to the number of overlays that are still shown.
 */
export const hideOverlays = (predicates: string): string => `async function () {
  const { concerns, asks } = (${predicates})()
  const { isShown, ...elements } = (${overlayElements})()
  const memoized = (work) => {
    const known = new Map()
    return (element) => {
      if (!known.has(element)) known.set(element, work(element))
      return known.get(element)
    }
  }
  const textOf = memoized(elements.textOf)
  const floatOf = ${findFloat}
  const hide = (element) => element.style?.setProperty('display', 'none', 'important')
  const parentOf = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host

  const speakers = (root) => {
    const found = []
    if (!concerns((root.body ?? root).textContent)) return found
    const walker = document.createTreeWalker(root.body ?? root, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node && found.length < ${textsMax}; node = walker.nextNode()) {
      const { parentElement } = node
      const element = parentElement ?? node.parentNode.host
      if (concerns(node.data) && !element.closest('script, style, noscript, template')) found.push(element)
    }
    return found
  }
  const isOverlay = memoized((element) => {
    if (!isShown(element) && !within(element).some(isShown)) return false
    const text = textOf(element)
    return text.length <= ${overlayCharactersMax} && concerns(text) && asks(element, text)
  })
  const within = (element) => [...element.querySelectorAll('*')].slice(0, 200)
  /** The smallest part of a float that is an overlay by itself, from the text that speaks of it. */
  const coreOf = (speaker, float) => {
    for (let at = speaker; at; at = parentOf(at)) {
      if (isOverlay(at)) return at
      if (at === float) return null
    }
    return null
  }
  /** The whole float; only its core if most of the float is about something else. */
  const overlayOf = (speaker) => {
    const float = floatOf(speaker)
    const core = float && coreOf(speaker, float)
    if (!core) return null
    let overlay = textOf(float).length <= textOf(core).length * 2 + 200 ? float : core
    for (let outer = floatOf(parentOf(overlay) ?? document.body); outer; outer = floatOf(parentOf(outer) ?? document.body)) {
      if (textOf(outer).length <= textOf(overlay).length * 1.2 + 50) overlay = outer
    }
    return overlay
  }
  const roots = (${openRoots})(this)
  const overlays = new Set(roots.flatMap(speakers).map(overlayOf).filter((each) => each !== null))
  for (const overlay of overlays) hide(overlay)
  if (overlays.size === 0) return 0

  ;(${uncover})(textOf)
  // Lets the page's mutation observers run first.
  await (${pause})(0)
  return [...overlays].filter((overlay) => overlay.isConnected && isShown(overlay)).length
}`
