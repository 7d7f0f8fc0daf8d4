/**
 * Moves what is fixed near the bottom of the window to the bottom of a whole page of `height` CSS pixels, and what sticks
 * there to its place in the page: a whole page shows it once, at its end, and not over its middle. Looks at 5000 elements at
 * most, those in open shadow roots included.
 */
export const pinBars = (height: number): string => `(() => {
  const below = ${height} - innerHeight
  if (below <= 0) return
  const set = (element, styles) => {
    for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value, 'important')
  }
  const elements = [...document.querySelectorAll('*')].slice(0, 5000)
  for (const element of elements) {
    if (elements.length < 5000 && element.shadowRoot) elements.push(...element.shadowRoot.querySelectorAll('*'))
    const { position, top, bottom, translate } = getComputedStyle(element)
    if (position === 'sticky' && top === 'auto' && bottom !== 'auto') set(element, { position: 'relative', bottom: 'auto' })
    // One that is fixed in a part of the page that is transformed has a parent, and scrolls with it.
    if (position !== 'fixed' || element.offsetParent || translate !== 'none') continue
    const box = element.getBoundingClientRect()
    const isBar = box.height > 0 && box.height < innerHeight / 2 && box.bottom <= innerHeight
    if (isBar && innerHeight - box.bottom < Math.min(box.top, innerHeight / 4)) {
      set(element, { translate: '0 ' + below + 'px', transition: 'none' })
    }
  }
})()`
