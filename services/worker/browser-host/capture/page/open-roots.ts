/** Elements of a document after which no further shadow roots are looked for. */
export const elementsMax = 20_000

/** A function of a root in a page: the root and the open shadow roots below it. */
export const openRoots = `(first) => {
  const roots = [first]
  let seen = 0
  for (const root of roots) {
    for (const element of root.querySelectorAll('*')) {
      if ((seen += 1) > ${elementsMax}) return roots
      if (element.shadowRoot) roots.push(element.shadowRoot)
    }
  }
  return roots
}`

/** A function of a root in a page: all elements below it, in open shadow roots too. */
export const everyElement = `(first) => (${openRoots})(first).flatMap((root) => [...root.querySelectorAll('*')])`

/** A function: whether `outer` is `inner`, or contains it across shadow roots. */
export const contains = `(outer, inner) => {
  for (let at = inner; at; at = at.parentNode ?? at.host) if (at === outer) return true
  return false
}`

/** A function that sets styles of an element above those of the page. */
export const setStyles = `(element, styles) => {
  for (const [name, value] of Object.entries(styles)) element.style?.setProperty(name, value, 'important')
}`

/** A function that lets the page scroll again after a banner. */
export const unlockScroll = `() => {
  for (const element of [document.documentElement, document.body]) {
    if (!element) continue
    const { overflowY, position } = getComputedStyle(element)
    if (overflowY === 'hidden' || overflowY === 'clip') element.style.setProperty('overflow', 'visible', 'important')
    if (position === 'fixed') element.style.setProperty('position', 'static', 'important')
  }
}`
