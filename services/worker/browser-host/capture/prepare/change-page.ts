import type { Warning } from '#shared/queue/messages.ts'
import { within } from '#shared/process/within.ts'
import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { applyStyle } from './style.ts'
import { runInOwnWorld } from './world.ts'

/** Time for the caller's script, and for the page to let itself be clicked. */
const scriptMs = 5000
const clickMs = 3000
/** Time for the document that a click or a script leads to. */
const navigationMs = 5000

type Changes = CapturePlan['changes']

const notFound = (parameter: string, selector: string): Warning => ({
  code: 'selector_not_found',
  message: `${parameter} '${selector}' matched nothing.`.slice(0, 500),
})

/** Runs the caller's script in the page's own world; `await` works at its top level. */
const runScript = async ({ session }: OpenPage, js: string): Promise<Warning[]> => {
  const failed = (why: string): Warning[] => [{ code: 'js_failed', message: `js ${why}`.slice(0, 500) }]
  const running = session.send('Runtime.evaluate', {
    expression: js,
    awaitPromise: true,
    replMode: true,
    userGesture: true,
  })
  try {
    const late = () => new Error(`did not end within ${scriptMs / 1000} s.`)
    const { exceptionDetails: thrown } = await within(running, scriptMs, late)
    return thrown ? failed(`threw: ${thrown.exception?.description?.split('\n')[0] ?? thrown.text}`) : []
  } catch (error) {
    const { message } = error as Error
    // The script went to another document, which took its world along.
    return /context was destroyed|navigated|Inspected target|collected/i.test(message) ? [] : failed(message)
  }
}

const click = async ({ page }: OpenPage, selector: string): Promise<Warning[]> => {
  const element = page.locator(`css=${selector}`).first()
  if ((await element.count()) === 0) return [notFound('click_selector', selector)]
  try {
    await element.click({ timeout: clickMs })
  } catch {
    // Covered, or in motion for ever: it is clicked as a script would.
    await element.dispatchEvent('click', undefined, { timeout: clickMs }).catch(() => {})
  }
  return []
}

/** What is taller than the viewport begins at its top; all else comes into the middle. */
const scrollIntoView = `(element) => element.scrollIntoView({
  behavior: 'instant', inline: 'nearest', block: element.getBoundingClientRect().height > innerHeight ? 'start' : 'center'
})`

/** Finds the first match in the document and its open shadow roots. Evaluates to whether there was one. */
const scrollTo = (selector: string) => `((selector) => {
  const roots = [document]
  for (const root of roots) {
    const found = root.querySelector(selector)
    if (found) return (${scrollIntoView})(found), true
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) roots.push(element.shadowRoot)
  }
  return false
})(${JSON.stringify(selector)})`

/** Waits for the document that a change of the page may have led to. */
const followNavigation = ({ page }: OpenPage) =>
  page.waitForLoadState('load', { timeout: navigationMs }).catch(() => {})

/**
 * Does to the loaded page what the caller wants, in the order of the plan, and answers the warnings. Style is applied again
 * before the shot, by `settle`'s caller: a click may have led to another document.
 */
export const changePage = async (open: OpenPage, changes: Changes): Promise<Warning[]> => {
  const { js, click: clicked, scrollTo: scrolledTo } = changes
  const warnings: Warning[] = []
  await applyStyle(open, changes)
  if (js !== undefined) {
    warnings.push(...(await runScript(open, js)))
    await followNavigation(open)
  }
  if (clicked !== undefined) {
    warnings.push(...(await click(open, clicked)))
    await followNavigation(open)
  }
  if (scrolledTo !== undefined) {
    const isFound = await runInOwnWorld(open, scrollTo(scrolledTo))
    if (isFound !== true) warnings.push(notFound('scroll_to', scrolledTo))
  }
  return warnings
}

/** Applies the caller's style to all that the page shows by now, and answers the warnings. */
export const styleAgain = async (open: OpenPage, changes: Changes): Promise<Warning[]> =>
  (await applyStyle(open, changes)).map((selector) => notFound('hide_selectors', selector))
