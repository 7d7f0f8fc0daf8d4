import { within } from '#shared/process/within.ts'
import type { Warning } from '#shared/capture/result-details.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import {
  invalidSelector,
  findFirst,
  unsearchedFrames,
  usingSelector,
} from '#worker/browser-host/capture/page/selectors.ts'
import { followCausedNavigation } from '#worker/browser-host/capture/page/watch-document.ts'
import { runInEveryRoot, runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { click } from './click.ts'

/**
 * Adopts a style sheet in a root and in the open shadow roots below it, replacing the one adopted before. Returns the number of
 * matches of each selector, null for an invalid one. A page's CSP does not apply to constructed style sheets.
 */
const adoptStyle = `function ({ css, selectors }) {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  const adopted = globalThis.shutterfleetSheets ??= new WeakMap()
  const counts = selectors.map(() => 0)
  const roots = [this]
  for (const root of roots) {
    const before = adopted.get(root)
    root.adoptedStyleSheets = [...root.adoptedStyleSheets.filter((each) => each !== before), sheet]
    adopted.set(root, sheet)
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) roots.push(element.shadowRoot)
    selectors.forEach((selector, index) => {
      try { counts[index] += root.querySelectorAll(selector).length } catch { counts[index] = null }
    })
  }
  return counts
}`

/**
 * Adds `css` to every frame and shadow root and removes matches of `hide` from the layout. Returns the selectors that matched
 * nothing. Throws `RENDER_ERROR` that names an invalid selector. May be called again, to include later content.
 */
const applyStyle = async (
  open: Pick<OpenPage, 'frameSessions'>,
  { css, hide }: { readonly css: string | undefined; readonly hide: readonly string[] },
): Promise<string[]> => {
  if (css === undefined && hide.length === 0) return []
  const rules = hide.map((selector) => `${selector} { display: none !important }`)
  const argument = { css: [css ?? '', ...rules].join('\n'), selectors: hide }
  const counts = (await runInEveryRoot(open, adoptStyle, argument)) as (number | null)[][]
  const invalid = hide.find((_, index) => counts.some((count) => count[index] === null))
  if (invalid !== undefined) throw invalidSelector('hide_selectors', invalid)
  return hide.filter((_, index) => counts.every((count) => (count[index] ?? 0) === 0))
}

/** Fractions of the time for script, click and the navigations that they cause: for the script, and until the click is forced. */
const scriptPart = 5 / 6
const clickPart = 1 / 2

type Changes = CapturePlan['changes']

/** Warns of a selector of the caller that matched nothing. */
export const notFound = (parameter: string, selector: string, why = 'matched nothing'): Warning => ({
  code: 'selector_not_found',
  message: `${parameter} '${selector}' ${why}.`.slice(0, 500),
})

/** `notFound` for a selector that is looked for in the page, but not in its frames. */
export const notFoundInPage = async (open: OpenPage, parameter: string, selector: string): Promise<Warning> => {
  const frames = Number(await runInMainFrame(open, 'globalThis.length').catch(() => 0))
  return notFound(parameter, selector, `matched nothing${unsearchedFrames(frames)}`)
}

/** Milliseconds until `endsAt`, at least one and at most `mostMs`. */
const leftUntil = (endsAt: number, mostMs: number): number => Math.max(1, Math.min(mostMs, endsAt - performance.now()))

/** Runs the caller's script in the page's own world; `await` and `return` work at its top level. */
const runScript = async ({ session }: OpenPage, js: string, waitMs: number): Promise<Warning[]> => {
  const failed = (problem: string): Warning[] => [{ code: 'js_failed', message: `js ${problem}`.slice(0, 500) }]
  const evaluate = async (expression: string) => {
    const run = { expression, awaitPromise: true, replMode: true, userGesture: true }
    return (await session.send('Runtime.evaluate', run)).exceptionDetails
  }
  const run = async () => {
    const thrown = await evaluate(js)
    // Without a stack nothing of it has run.
    const returns = thrown?.stackTrace === undefined && /Illegal return/.test(thrown?.exception?.description ?? '')
    return returns ? await evaluate(`(async () => {\n${js}\n})()`) : thrown
  }
  try {
    const late = () => new Error(`did not end within ${(waitMs / 1000).toFixed(1)} s.`)
    const thrown = await within(run(), waitMs, late)
    return thrown ? failed(`threw: ${thrown.exception?.description?.split('\n')[0] ?? thrown.text}`) : []
  } catch (error) {
    const { message } = error as Error
    // The script navigated to another document, which destroyed its context.
    return /context was destroyed|navigated|Inspected target|collected/i.test(message) ? [] : failed(message)
  }
}

/** Aligns a match taller than the viewport with its top, others with its centre. Evaluates to whether there was a match. */
export const scrollTo = (selector: string) => `((found) => {
  const block = found && found.getBoundingClientRect().height > innerHeight ? 'start' : 'center'
  found?.scrollIntoView({ behavior: 'instant', inline: 'nearest', block })
  return found !== null
})(${findFirst(selector)})`

/**
 * Applies the caller's changes to the loaded page, in the order of the plan, within `waitMs`, and returns the warnings. Call
 * `reapplyStyle` before the shot, because a click may have led to another document.
 */
export const changePage = async (open: OpenPage, changes: Changes, waitMs: number): Promise<Warning[]> => {
  const { js, click: clicked, scrollTo: scrolledTo } = changes
  const warnings: Warning[] = []
  const endsAt = performance.now() + waitMs
  await applyStyle(open, changes)
  if (js !== undefined) {
    warnings.push(...(await runScript(open, js, waitMs * scriptPart)))
    await followCausedNavigation(open, endsAt)
  }
  if (clicked !== undefined) {
    const isFound = await usingSelector(
      'click_selector',
      clicked,
      click(open, clicked, leftUntil(endsAt, waitMs * clickPart)),
    )
    if (!isFound) warnings.push(await notFoundInPage(open, 'click_selector', clicked))
    await followCausedNavigation(open, endsAt)
  }
  if (scrolledTo !== undefined) {
    const isFound = await usingSelector('scroll_to', scrolledTo, runInMainFrame(open, scrollTo(scrolledTo)))
    if (isFound !== true) warnings.push(await notFoundInPage(open, 'scroll_to', scrolledTo))
  }
  return warnings
}

/** Applies the caller's style to the current content of the page, and returns the warnings. */
export const reapplyStyle = async (open: OpenPage, changes: Changes): Promise<Warning[]> =>
  (await applyStyle(open, changes)).map((selector) => notFound('hide_selectors', selector))
