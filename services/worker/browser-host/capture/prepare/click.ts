import { within } from '#shared/process/within.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { pause } from '#worker/browser-host/capture/page/page-frames.ts'
import { findFirst } from '#worker/browser-host/capture/page/selectors.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'

type Target = Pick<OpenPage, 'session' | 'mainFrameId'>
type Point = { readonly x: number; readonly y: number }

/**
 * Scrolls the first match into view, unless the mouse reaches it where it is, and waits until it stops moving and is on top at its
 * centre. Evaluates to that point of the viewport; to 'covered' after `waitMs`, to null if nothing matches.
 */
const awaitPoint = (selector: string, waitMs: number) => `(async () => {
  const find = () => ${findFirst(selector)}
  const frame = () => new Promise((done) => { (${pause})(100).then(done); requestAnimationFrame(done) })
  const topAt = (x, y) => {
    let top = document.elementFromPoint(x, y)
    while (top?.shadowRoot) {
      const inner = top.shadowRoot.elementFromPoint(x, y)
      if (!inner || inner === top) break
      top = inner
    }
    return top
  }
  const contains = (element, inner) => {
    for (let each = inner; each; each = each.parentNode ?? each.host) if (each === element) return true
    return false
  }
  const endsAt = performance.now() + ${waitMs}
  const isOutside = ({ x, y }) => x < 0 || y < 0 || x >= innerWidth || y >= innerHeight
  let before, hasScrolled = false
  do {
    const found = find()
    if (!found) return null
    const centre = () => {
      const { left, top, width, height } = found.getBoundingClientRect()
      return { x: left + width / 2, y: top + height / 2, width, height }
    }
    const isReached = ({ x, y }) => contains(found, topAt(x, y))
    // What loads may push it out of view later.
    if (!hasScrolled && !isReached(centre()) && (!before || isOutside(centre()))) {
      found.scrollIntoView({ behavior: 'instant', block: 'center', inline: 'center' })
      hasScrolled = true
    }
    const { x, y, width, height } = centre()
    const isAtRest = before?.x === x && before.y === y
    if (isAtRest && width > 0 && height > 0 && !found.disabled && isReached({ x, y })) return { x, y }
    before = { x, y }
    await frame()
  } while (performance.now() < endsAt)
  return 'covered'
})()`

/** Clicks by script, whatever covers the element. */
const dispatchClick = (selector: string) =>
  `${findFirst(selector)}?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, composed: true, view: window }))`

const pressAndRelease = async ({ session }: Pick<OpenPage, 'session'>, { x, y }: Point): Promise<void> => {
  const mouse = { x, y, button: 'left', clickCount: 1 } as const
  await Promise.all([
    session.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y }),
    session.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...mouse, buttons: 1 }),
    session.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...mouse }),
  ])
}

/** The point of the first match at which the mouse reaches it, scrolled into view; see `awaitPoint`. */
const findPoint = async (open: Target, selector: string, waitMs: number) =>
  (await runInMainFrame(open, awaitPoint(selector, waitMs))) as Point | 'covered' | null

/**
 * Clicks the first match with the mouse. One that is covered, disabled or permanently moving is clicked by script, after at most
 * `waitMs`. Returns whether there was a match. Throws the browser's error for an invalid selector.
 */
export const click = async (open: Target, selector: string, waitMs: number): Promise<boolean> => {
  const point = await findPoint(open, selector, waitMs)
  if (point === null) return false
  // The response to a click waits for the page's handlers, which may open a dialog or navigate.
  const clicking = point === 'covered' ? runInMainFrame(open, dispatchClick(selector)) : pressAndRelease(open, point)
  await within(clicking, waitMs, () => new Error('the click handler did not end')).catch(() => {})
  return true
}

/** Moves the mouse onto the first match, unless it is covered. Returns whether there was one; otherwise as `click`. */
export const hover = async (open: Target, selector: string, waitMs: number): Promise<boolean> => {
  const point = await findPoint(open, selector, waitMs)
  if (point === null) return false
  if (point !== 'covered') await open.session.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...point })
  return true
}
