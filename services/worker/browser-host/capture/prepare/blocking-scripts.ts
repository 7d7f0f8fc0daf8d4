import { consentWords } from '#worker/browser-host/blocking/consent-words.ts'
import { elementsMax, openRoots, unlockScroll } from '#worker/browser-host/capture/page/open-roots.ts'
import { pause } from '#worker/browser-host/capture/page/page-frames.ts'
import { consentPredicates } from './consent-banners.ts'
import { findFloat, overlayElements } from './overlays.ts'

/** Bounds of what is read from a root, besides elements; the rest is ignored. */
const tokensMax = 5000
const tokenCharactersMax = 300
/** Characters at each end of a text in which words about consent are looked for. */
const textCharactersMax = 200_000

/** Whether an element, or one of its first 200 descendants, is visible at the current scroll position. */
const isShown = `(element) => {
  const isSeen = (each) => {
    const { width, height, top, left, bottom, right } = each.getBoundingClientRect()
    if (width < 2 || height < 2 || bottom <= 0 || right <= 0 || top >= innerHeight || left >= innerWidth) return false
    return each.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  }
  return isSeen(element) || [...element.querySelectorAll('*')].slice(0, 200).some(isSeen)
}`

/** All matches in the given roots, except the page's `html` and `body` elements. */
const everyMatch = `(roots, selector) => {
  const matches = (element) => element !== document.body && element !== document.documentElement
  try {
    return roots.flatMap((root) => [...root.querySelectorAll(selector)]).filter(matches)
  } catch {
    return []
  }
}`

/**
 * Returns the tokens of a root by which rules are found: ids, classes, addresses, and which of `bases` match; and whether its
 * text is about consent. Most of `bases` require an attribute that no element has; that is tested once for each attribute.
 */
export const readTokens = `function (bases) {
  const [ids, names, hrefs, classes] = [new Set(), new Set(), new Set(), new Set()]
  const put = (set, token) => {
    if (token && token.length <= ${tokenCharactersMax} && set.size < ${tokensMax}) set.add(token)
  }
  const roots = [this]
  let seen = 0
  for (const root of roots) {
    for (const element of root.querySelectorAll('*')) {
      if ((seen += 1) > ${elementsMax}) break
      put(ids, element.getAttribute('id'))
      put(names, element.getAttribute('class'))
      if (element instanceof HTMLAnchorElement) put(hrefs, element.getAttribute('href'))
      if (element.shadowRoot) roots.push(element.shadowRoot)
    }
  }
  for (const name of names) for (const each of name.split(/\\s+/)) put(classes, each)
  const hasMatch = (selector) => {
    try { return roots.some((root) => root.querySelector(selector) !== null) } catch { return false }
  }
  const attributes = new Map()
  const mayMatch = (selector) => {
    const name = /,|:not/.test(selector) ? undefined : /\\[([\\w-]+)/.exec(selector)?.[1]
    if (name === undefined) return true
    if (!attributes.has(name)) attributes.set(name, hasMatch('[' + name + ']'))
    return attributes.get(name)
  }
  const matched = bases.filter((selector) => mayMatch(selector) && hasMatch(selector))
  const subject = new RegExp(${JSON.stringify(consentWords.subject)}, 'iu')
  const textOf = (root) => (root.body ?? root).textContent
  const ends = (text) => (text.length > 2 * ${textCharactersMax} ? text.slice(0, ${textCharactersMax}) + text.slice(-${textCharactersMax}) : text)
  const asksConsent = roots.some((root) => subject.test(ends(textOf(root))))
  return { asksConsent, ids: [...ids], classes: [...classes], hrefs: [...hrefs], bases: matched, frames: globalThis.length }
}`

/** Whether any match of the selectors is visible in a root. */
export const showsAny = `function (selectors) {
  const roots = (${openRoots})(this)
  return selectors.some((selector) => (${everyMatch})(roots, selector).some(${isShown}))
}`

/** Most characters of a consent banner in the page's flow: more is the page's own content. */
const inFlowCharactersMax = 1500

/**
 * A function of an element: whether a rule for consent banners may hide it. Rules with general names (`.cookie-banner`) match a
 * page's own content too: in the page's flow a banner has a button that consents or refuses, a frame, or nothing at all.
 */
const mayHide = `(() => {
  const { asks } = (${consentPredicates})()
  const { textOf } = (${overlayElements})()
  const floatOf = ${findFloat}
  return (element) => {
    const inside = [...element.querySelectorAll('*')].slice(0, 200)
    if ([element, ...inside].some((each) => floatOf(each) || each.localName === 'iframe')) return true
    const text = textOf(element)
    const isBare = text.trim() === '' && !element.querySelector('img, svg, canvas, video, picture')
    return isBare || (text.length <= ${inFlowCharactersMax} && asks(element, text))
  }
})()`

/**
 * Applies the rules by a style sheet to a root and the open shadow roots below it, replacing the previous rules. Matches
 * of `consent` are hidden by inline style, if they are banners; returns whether any is visible even then. `isUnlocked`:
 * removes the scroll lock that a banner set.
 */
export const hideMatches = `async function ({ rules, consent, isUnlocked }) {
  const roots = (${openRoots})(this)
  const hidden = 'display: none !important'
  const isWhole = (selector) => {
    try { return !!(document.documentElement?.matches(selector) || document.body?.matches(selector)) } catch { return true }
  }
  const mayHide = ${mayHide}
  const css = rules
    .filter(({ selector }) => !consent.includes(selector))
    .filter(({ selector, style }) => style !== undefined || !isWhole(selector))
    .map(({ selector, style }) => selector + ' { ' + (style ?? hidden) + ' }')
    .join('\\n')
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  const adopted = globalThis.shutterfleetBlocking ??= new WeakMap()
  for (const root of roots) {
    const before = adopted.get(root)
    root.adoptedStyleSheets = [...root.adoptedStyleSheets.filter((each) => each !== before), sheet]
    adopted.set(root, sheet)
  }
  const banners = () => consent.flatMap((selector) => (${everyMatch})(roots, selector)).filter(mayHide)
  const found = banners()
  for (const banner of found) banner.style?.setProperty('display', 'none', 'important')
  if (isUnlocked && this === document) (${unlockScroll})()
  if (found.length === 0) return false
  // Lets the page's mutation observers run first.
  await (${pause})(0)
  return banners().some(${isShown})
}`
