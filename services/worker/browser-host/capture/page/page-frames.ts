/**
 * A function that resolves after `ms`. Not by a timer: in a document with `Content-Security-Policy: sandbox`, as raw files of code
 * hosts have it, none fires.
 */
export const pause = `(ms) => scheduler.postTask(() => {}, { delay: ms, priority: 'user-blocking' })`

const twoFramesWithin = (mostMs: string) => `new Promise((done) => {
  (${pause})(${mostMs}).then(done)
  requestAnimationFrame(() => requestAnimationFrame(() => done()))
})`

/** Resolves after two animation frames, so that elements that follow the scroll position have moved; after 500 ms at most. */
export const twoFrames = twoFramesWithin('500')

/**
 * A function that waits until the page's intersection observers, lazy images and scroll listeners have been told of the current
 * scroll position, for `leftMs` at most; resolves to whether they have. All observers are notified in one task.
 */
export const awaitObserved = `(leftMs) => new Promise((done) => {
  const observer = new IntersectionObserver(() => {
    observer.disconnect()
    ;(${pause})(0).then(() => done(true))
  })
  observer.observe(document.documentElement)
  ;(${pause})(Math.max(0, leftMs)).then(() => done(false))
})`

/** Longest wait for a changing page, and how long it must stay unchanged by default. */
const changingMs = 1500
const unchangedMs = 100

/**
 * A function that resolves if the document has not changed for two frames, and for `leastMs`; otherwise once it is unchanged for
 * `quietMs`, after `mostMs` at most. Resolves to whether it has changed.
 */
export const awaitUnchanged = `async (leastMs = 0, quietMs = ${unchangedMs}, mostMs = ${changingMs}) => {
  const began = performance.now()
  let quietAt = began + leastMs
  let isChanged = false
  const changes = new MutationObserver(() => {
    isChanged = true
    quietAt = Math.max(quietAt, performance.now() + quietMs)
  })
  changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  // What comes into view is drawn in the second frame, however long a busy machine takes for it.
  do await ${twoFramesWithin('mostMs')}
  while (performance.now() < Math.min(quietAt, began + mostMs))
  changes.disconnect()
  return isChanged
}`
