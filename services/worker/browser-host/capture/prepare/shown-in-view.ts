import { elementsMax, everyElement, setStyles } from '#worker/browser-host/capture/page/open-roots.ts'

/** Most elements that are looked at in each step, and properties by which pages hide what is not in view. */
const hiddenMax = 500
const properties = ['opacity', 'visibility', 'transform', 'translate', 'scale', 'rotate', 'filter', 'clip-path']

/**
 * A function that finds what is hidden beyond the window. Returns two: `note` records how each of these is shown while it is in view, as
 * its transitions end, and `keep` shows those so which the page hides again once they are not: on paper all is in view.
 */
export const watchShownInView = `() => {
  const isHidden = (style) => Number(style.opacity) < 0.1 || style.visibility === 'hidden'
  const isInView = (element) => {
    const { top, bottom, width, height } = element.getBoundingClientRect()
    return width > 0 && height > 0 && bottom > 0 && top < innerHeight
  }
  const isHiddenNow = (element) => {
    for (const each of element.getAnimations()) if (each instanceof CSSTransition) each.finish()
    return isHidden(getComputedStyle(element))
  }
  const hidden = (${everyElement})(document).slice(0, ${elementsMax})
    .filter((element) => isHidden(getComputedStyle(element)) && !isInView(element)).slice(0, ${hiddenMax})
  const shown = new Map()
  return {
    note: () => {
      for (const element of hidden) {
        if (shown.has(element) || !isInView(element) || isHiddenNow(element)) continue
        const style = getComputedStyle(element)
        shown.set(element, Object.fromEntries(${JSON.stringify(properties)}.map((name) => [name, style.getPropertyValue(name)])))
      }
    },
    keep: () => {
      for (const [element, styles] of shown) {
        if (isHiddenNow(element)) (${setStyles})(element, { ...styles, transition: 'none' })
      }
    },
  }
}`
