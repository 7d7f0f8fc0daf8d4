import { pause } from '#worker/browser-host/capture/page/page-frames.ts'

/** Longest wait for a preloader, and the poll interval. */
const preloaderMs = 1500
const pollMs = 50
/** A cover with more text has something to say. */
const charactersMax = 40

/**
 * A function that waits while a preloader lies over the viewport, for `preloaderMs` at most: an opaque cover out of the page's
 * flow, with hardly any text and nothing to use, above a page that has content.
 */
export const awaitUncovered = `async () => {
  const isOpaque = ({ backgroundColor, backgroundImage, opacity }) =>
    backgroundImage === 'none' && Number(opacity) > 0.5 && !/transparent|rgba|\\//.test(backgroundColor)
  const isCover = (element) => {
    const style = getComputedStyle(element)
    const { left, top, right, bottom } = element.getBoundingClientRect()
    const isOver = left <= 0 && top <= 0 && right >= innerWidth && bottom >= innerHeight
    return isOver && ['absolute', 'fixed'].includes(style.position) && isOpaque(style)
  }
  const coverAt = ([x, y]) => {
    let at = document.elementFromPoint(innerWidth * x, innerHeight * y)
    while (at && !isCover(at)) at = at.parentElement
    return at
  }
  const isContent = (cover) => (element) =>
    !element.contains(cover) && !cover.contains(element) && element.getBoundingClientRect().height > 0
  const points = [[0.5, 0.5], [0.05, 0.05], [0.95, 0.05], [0.05, 0.95], [0.95, 0.95]]
  const isPreloader = () => {
    const cover = coverAt(points[0])
    if (!cover || points.some((point) => coverAt(point) !== cover)) return false
    if ((cover.innerText ?? '').trim().length > ${charactersMax} || cover.querySelector('a, button, input, iframe, video')) return false
    return [...document.body.children].some(isContent(cover))
  }
  const endsAt = performance.now() + ${preloaderMs}
  while (document.body && isPreloader() && performance.now() < endsAt) await (${pause})(${pollMs})
}`
