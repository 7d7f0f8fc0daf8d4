/** Resolves when the page has drawn two frames, so that what follows the scroll position is in its place; after 500 ms in any case. */
const twoFrames = `new Promise((done) => {
  setTimeout(done, 500)
  requestAnimationFrame(() => requestAnimationFrame(() => done()))
})`

/**
 * Waits for fonts, and for the images between the top of the page and `belowPx` to be decoded, for at most `waitMs`.
 * Resolves to the number of images that are not. Images beyond the 500th are not looked at.
 */
const awaitContent = `async (belowPx, waitMs) => {
  const wanted = [...document.images].slice(0, 500).filter((image) => {
    const { top, bottom, width } = image.getBoundingClientRect()
    return width > 0 && bottom + scrollY > 0 && top + scrollY < belowPx && (image.currentSrc || image.src) !== ''
  })
  const left = new Set(wanted)
  const decoded = wanted.map((image) =>
    image.decode().then(() => left.delete(image), () => image.complete && left.delete(image)))
  const late = new Promise((done) => setTimeout(done, waitMs))
  await Promise.race([Promise.all([document.fonts.ready, ...decoded]), late])
  return left.size
}`

/** On a busy machine a step may be over before the browser has noticed which images came near; now all of them are. */
const loadLazyImages = `for (const image of [...document.images].slice(0, 500)) {
  if (image.loading === 'lazy' && !image.complete) image.loading = 'eager'
}`

/** A blinking caret would make two pictures of one page differ. */
const hideCaret = `document.activeElement?.style?.setProperty('caret-color', 'transparent', 'important')`

/** Settles what is in the viewport: fonts loaded, images decoded; the shot itself waits for a frame. Gives the number of images left undecoded. */
export const settleViewport = (contentMs: number): string => `(async () => {
  ${hideCaret}
  return (${awaitContent})(scrollY + innerHeight, ${contentMs})
})()`

/**
 * Scrolls through the page by viewports so that lazy content loads, for at most `scrollMs` and down to `heightMax` CSS
 * pixels, then goes back to the top and settles. Gives the number of images left undecoded.
 */
export const settleFullPage = (bounds: {
  heightMax: number
  scrollMs: number
  contentMs: number
}): string => `(async () => {
  ${hideCaret}
  const end = performance.now() + ${bounds.scrollMs}
  const root = document.scrollingElement ?? document.documentElement
  const frame = () => new Promise((done) => { setTimeout(done, 100); requestAnimationFrame(() => done()) })
  for (let y = innerHeight; y < Math.min(root.scrollHeight, ${bounds.heightMax}); y += innerHeight) {
    if (performance.now() > end) break
    scrollTo({ top: y, behavior: 'instant' })
    await frame()
  }
  ${loadLazyImages}
  const undecoded = await (${awaitContent})(${bounds.heightMax}, ${bounds.contentMs})
  scrollTo({ top: 0, behavior: 'instant' })
  await ${twoFrames}
  return undecoded
})()`
