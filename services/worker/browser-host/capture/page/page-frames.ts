/** Resolves after two animation frames, so that elements that follow the scroll position have moved; after 500 ms at most. */
export const twoFrames = `new Promise((done) => {
  setTimeout(done, 500)
  requestAnimationFrame(() => requestAnimationFrame(() => done()))
})`

/**
 * A function that waits until the page's intersection observers, lazy images and scroll listeners have been told of the current
 * scroll position, for `leftMs` at most; resolves to whether they have. All observers are notified in one task.
 */
export const awaitObserved = `(leftMs) => new Promise((done) => {
  const observer = new IntersectionObserver(() => {
    observer.disconnect()
    setTimeout(() => done(true))
  })
  observer.observe(document.documentElement)
  setTimeout(() => done(false), leftMs)
})`
