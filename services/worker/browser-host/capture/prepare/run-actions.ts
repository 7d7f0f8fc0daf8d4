import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#shared/errors/app-error.ts'
import { within } from '#shared/process/within.ts'
import type { Warning } from '#shared/capture/result-details.ts'
import { awaitSelector } from '#worker/browser-host/capture/load/await-selector.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { findFirst } from '#worker/browser-host/capture/page/selectors.ts'
import { followCausedNavigation } from '#worker/browser-host/capture/page/watch-document.ts'
import { runInMainFrame } from '#worker/browser-host/capture/page/world.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { notFound, notFoundInPage, scrollTo } from './change-page.ts'
import { click, hover } from './click.ts'
import { pressKey, typeText } from './press-keys.ts'

type Action = CapturePlan['actions'][number]

/** Most milliseconds that an action waits for its element, and that `wait` does. */
const elementMsMax = 2000
const waitMsMax = 5000

/** Selects an option by its value, else by its label. Evaluates to whether there was one. */
const selectOption = (selector: string, value: string) => `((found, value) => {
  const options = found instanceof HTMLSelectElement ? [...found.options] : []
  const option = options.find((each) => each.value === value) ?? options.find((each) => each.label.trim() === value)
  if (!option) return false
  option.selected = true
  for (const type of ['input', 'change']) found.dispatchEvent(new Event(type, { bubbles: true, composed: true }))
  return true
})(${findFirst(selector)}, ${JSON.stringify(value)})`

/** Scrolls to a position; a coordinate that is not given stays as it is. */
const scrollToPosition = ({ x, y }: Action) =>
  `scrollTo({ left: ${x ?? 'scrollX'}, top: ${y ?? 'scrollY'}, behavior: 'instant' })`

/** Chromium focuses an element with `autofocus` in the next frame, which a busy machine draws late. */
const applyAutofocus = `document.activeElement === document.body && document.querySelector('[autofocus]')?.focus()`

const focus = async (open: OpenPage, { selector }: Action): Promise<void> => {
  await runInMainFrame(open, selector === undefined ? applyAutofocus : `${findFirst(selector)}?.focus()`)
}

type Performer = (open: OpenPage, action: Action, waitMs: number) => Promise<unknown>

/** Performs an action whose element is there. Returns false if it had no effect. */
const perform: Readonly<Record<Action['type'], Performer>> = {
  click: (open, { selector = '' }, waitMs) => click(open, selector, waitMs),
  hover: (open, { selector = '' }, waitMs) => hover(open, selector, waitMs),
  select: (open, { selector = '', value = '' }) => runInMainFrame(open, selectOption(selector, value)),
  scroll: (open, action) =>
    runInMainFrame(open, action.selector === undefined ? scrollToPosition(action) : scrollTo(action.selector)),
  wait: (_open, { milliseconds = 0 }) => delay(milliseconds),
  type: async (open, action) => {
    await focus(open, action)
    await typeText(open, action.text ?? '')
  },
  press: async (open, action) => {
    await focus(open, action)
    await pressKey(open, action.key ?? 'Enter')
  },
}

/** Whether the element of an action appears within `waitMs`. Throws `RENDER_ERROR` if the selector is invalid. */
const appears = async (
  open: OpenPage,
  selector: string,
  { waitMs, parameter }: { waitMs: number; parameter: string },
) => {
  try {
    await awaitSelector(open, selector, { waitMs, timeoutSeconds: waitMs / 1000 }, parameter)
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'TIMEOUT') return false
    throw error
  }
}

/** Performs one action until `endsAt`, and follows the navigation that it causes. */
const runAction = async (
  open: OpenPage,
  action: Action,
  { parameter, endsAt }: { readonly parameter: string; readonly endsAt: number },
): Promise<Warning[]> => {
  const { type, selector, value } = action
  const leftMs = (mostMs: number) => Math.max(1, Math.min(mostMs, endsAt - performance.now()))
  const waitMs = leftMs(type === 'wait' ? waitMsMax : elementMsMax)
  if (selector !== undefined && !(await appears(open, selector, { waitMs, parameter })))
    return [await notFoundInPage(open, parameter, selector)]
  const late = () => new Error('the action did not end')
  // A handler of the page may open a dialog, navigate, or not end: the next action finds the page as it is then.
  const performed = perform[type](open, action, leftMs(elementMsMax))
  const effect = await within(performed, leftMs(Infinity), late).catch(() => undefined)
  if (type !== 'wait' && type !== 'scroll') await followCausedNavigation(open, endsAt)
  if (effect !== false) return []
  return [notFound(parameter, selector ?? '', type === 'select' ? `has no option '${value}'` : undefined)]
}

/**
 * Performs the caller's actions in order, within `waitMs` and the times that they wait, and returns the warnings: an action
 * whose element does not appear, or that has no effect, is left out.
 */
export const runActions = async (open: OpenPage, actions: readonly Action[], waitMs: number): Promise<Warning[]> => {
  const warnings: Warning[] = []
  let endsAt = performance.now() + waitMs
  for (const [index, action] of actions.entries()) {
    endsAt += action.milliseconds ?? 0
    warnings.push(...(await runAction(open, action, { parameter: `actions.${index}.selector`, endsAt })))
  }
  return warnings
}
