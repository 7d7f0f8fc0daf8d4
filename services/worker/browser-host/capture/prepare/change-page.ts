import type { Warning } from '#shared/queue/messages.ts'
import { within } from '#shared/process/within.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { click } from './click.ts'
import { findFirst } from './find-first.ts'
import { followNavigation } from './follow-navigation.ts'
import { usingSelector } from './selector-errors.ts'
import { applyStyle } from './style.ts'
import { runInOwnWorld } from './world.ts'

/** Of the time for script and click together and the documents that they lead to: for the script, and until the click is forced. */
const scriptPart = 5 / 6
const clickPart = 1 / 2

type Changes = CapturePlan['changes']

const notFound = (parameter: string, selector: string): Warning => ({
  code: 'selector_not_found',
  message: `${parameter} '${selector}' matched nothing.`.slice(0, 500),
})

/** Milliseconds until `endsAt`, at least one and at most `mostMs`. */
const leftUntil = (endsAt: number, mostMs: number): number => Math.max(1, Math.min(mostMs, endsAt - performance.now()))

/** Runs the caller's script in the page's own world; `await` works at its top level. */
const runScript = async ({ session }: OpenPage, js: string, waitMs: number): Promise<Warning[]> => {
  const failed = (why: string): Warning[] => [{ code: 'js_failed', message: `js ${why}`.slice(0, 500) }]
  const running = session.send('Runtime.evaluate', {
    expression: js,
    awaitPromise: true,
    replMode: true,
    userGesture: true,
  })
  try {
    const late = () => new Error(`did not end within ${(waitMs / 1000).toFixed(1)} s.`)
    const { exceptionDetails: thrown } = await within(running, waitMs, late)
    return thrown ? failed(`threw: ${thrown.exception?.description?.split('\n')[0] ?? thrown.text}`) : []
  } catch (error) {
    const { message } = error as Error
    // The script went to another document, which took its world along.
    return /context was destroyed|navigated|Inspected target|collected/i.test(message) ? [] : failed(message)
  }
}

/** What is taller than the viewport begins at its top; all else comes into the middle. Evaluates to whether there was a match. */
const scrollTo = (selector: string) => `((found) => {
  const block = found && found.getBoundingClientRect().height > innerHeight ? 'start' : 'center'
  found?.scrollIntoView({ behavior: 'instant', inline: 'nearest', block })
  return found !== null
})(${findFirst(selector)})`

/** Time in which a click or a script starts the navigation that it causes. */
const navigationStartMs = 50

const follow = async (open: OpenPage, endsAt: number) => {
  await new Promise((wake) => setTimeout(wake, navigationStartMs))
  await followNavigation(open, endsAt)
}

/**
 * Applies the caller's changes to the loaded page, in the order of the plan, within `waitMs`, and returns the warnings.
 * `styleAgain` follows before the shot: a click may have led to another document.
 */
export const changePage = async (open: OpenPage, changes: Changes, waitMs: number): Promise<Warning[]> => {
  const { js, click: clicked, scrollTo: scrolledTo } = changes
  const warnings: Warning[] = []
  const endsAt = performance.now() + waitMs
  await applyStyle(open, changes)
  if (js !== undefined) {
    warnings.push(...(await runScript(open, js, waitMs * scriptPart)))
    await follow(open, endsAt)
  }
  if (clicked !== undefined) {
    const isFound = await usingSelector(
      'click_selector',
      clicked,
      click(open, clicked, leftUntil(endsAt, waitMs * clickPart)),
    )
    if (!isFound) warnings.push(notFound('click_selector', clicked))
    await follow(open, endsAt)
  }
  if (scrolledTo !== undefined) {
    const isFound = await usingSelector('scroll_to', scrolledTo, runInOwnWorld(open, scrollTo(scrolledTo)))
    if (isFound !== true) warnings.push(notFound('scroll_to', scrolledTo))
  }
  return warnings
}

/** Applies the caller's style to all that the page shows by now, and answers the warnings. */
export const styleAgain = async (open: OpenPage, changes: Changes): Promise<Warning[]> =>
  (await applyStyle(open, changes)).map((selector) => notFound('hide_selectors', selector))
