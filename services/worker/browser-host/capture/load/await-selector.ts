import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { openRoots } from '#worker/browser-host/capture/page/open-roots.ts'
import { findFirst, unsearchedFrames, usingSelector } from '#worker/browser-host/capture/page/selectors.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'

const pollMs = 50

type Waiting = Pick<OpenPage, 'session' | 'mainFrameId'>
type WaitBounds = { readonly waitMs: number; readonly timeoutSeconds: number }

/** Polls a condition of the main frame's current document. Throws `TIMEOUT` with what is `unmet` after `waitMs`. */
const awaitCondition = async (
  { session }: Waiting,
  { isMet, unmet }: { readonly isMet: () => Promise<unknown>; readonly unmet: () => string },
  { waitMs, timeoutSeconds }: WaitBounds,
): Promise<void> => {
  const endsAt = performance.now() + waitMs
  const late = () => new AppError('TIMEOUT', { publicMessage: `${unmet()} within ${timeoutSeconds} s.` })
  const untilMet = async () => {
    while (performance.now() < endsAt) {
      try {
        if ((await isMet()) === true) return
      } catch (error) {
        if (error instanceof AppError || !session.isOpen()) throw error
      }
      await delay(pollMs)
    }
    throw late()
  }
  await within(untilMet(), Math.max(1, waitMs), late)
}

/** Waits until a CSS selector matches. Throws `TIMEOUT`, or `RENDER_ERROR` if the selector is invalid; both name `parameter`. */
export const awaitSelector = (
  open: Waiting,
  selector: string,
  bounds: WaitBounds,
  parameter = 'wait_for_selector',
): Promise<void> => {
  const find = `${findFirst(selector)} !== null || globalThis.length`
  let frames = 0
  const isMet = async () => {
    const found = await usingSelector(parameter, selector, runInMainFrame(open, find))
    frames = Number(found)
    return found
  }
  const unmet = () => `Nothing matched ${parameter} '${selector}'${unsearchedFrames(frames)}`
  return awaitCondition(open, { isMet, unmet }, bounds)
}

/** Waits until no match of a CSS selector is visible: all are gone, hidden, transparent or without size, with what they contain. Throws as `awaitSelector` does. */
export const awaitHidden = (open: Waiting, selector: string, bounds: WaitBounds): Promise<void> => {
  const isHidden = `((isShown) => (${openRoots})(document).every((root) =>
    [...root.querySelectorAll(${JSON.stringify(selector)})].every((each) => ![each, ...each.querySelectorAll('*')].some(isShown))
  ))((each) => {
    const { width, height } = each.getBoundingClientRect()
    return width * height > 0 && each.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  })`
  const isMet = () => usingSelector('wait_for_selector_hidden', selector, runInMainFrame(open, isHidden))
  return awaitCondition(
    open,
    { isMet, unmet: () => `wait_for_selector_hidden '${selector}' was still visible` },
    bounds,
  )
}

/**
 * Waits until JavaScript of the caller is true in the page's own world. Throws `TIMEOUT`, or `RENDER_ERROR` if it is not an
 * expression.
 */
export const awaitFunction = (open: Waiting, js: string, bounds: WaitBounds): Promise<void> => {
  const expression = `(async () => {
    const value = (${js}\n)
    return !!(await (typeof value === 'function' ? value() : value))
  })()`
  const isMet = async () => {
    const { result, exceptionDetails: thrown } = await open.session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    if (thrown?.exception?.className === 'SyntaxError' && thrown.stackTrace === undefined) {
      const publicMessage = `wait_for_function is not a JavaScript expression: ${thrown.exception.description ?? ''}`
      throw new AppError('RENDER_ERROR', { publicMessage: publicMessage.slice(0, 500), blame: 'caller' })
    }
    return result.value
  }
  return awaitCondition(open, { isMet, unmet: () => 'wait_for_function was not true' }, bounds)
}
