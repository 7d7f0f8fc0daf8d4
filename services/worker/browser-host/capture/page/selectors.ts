import { AppError } from '#shared/errors/app-error.ts'

/** Global of the isolated worlds: a `WeakMap` from hidden elements to those that are shown in their place. */
export const standIns = 'shutterfleetStandIns'

/**
 * A JavaScript expression for the first match of a selector in the document and its open shadow roots, or what is shown in its place;
 * null if there is none.
 */
export const findFirst = (selector: string): string => `((selector) => {
  const roots = [document]
  for (const root of roots) {
    const found = root.querySelector(selector)
    if (found) return globalThis.${standIns}?.get(found) ?? found
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) roots.push(element.shadowRoot)
  }
  return null
})(${JSON.stringify(selector)})`

/**
 * A function of an element: its box in the window, or, as it has none itself with `display: contents`, that of its content; null if there
 * is none.
 */
export const boxOf = `(element) => {
  const isBoxless = (node) => node.nodeType === Node.ELEMENT_NODE && getComputedStyle(node).display === 'contents'
  if (!isBoxless(element)) return element.getBoundingClientRect()
  const range = document.createRange()
  const nodes = [element]
  const boxes = []
  for (const node of nodes) {
    if (isBoxless(node)) {
      const assigned = node.assignedNodes?.() ?? []
      nodes.push(...(assigned.length > 0 ? assigned : (node.shadowRoot ?? node).childNodes))
    } else if (node.nodeType === Node.ELEMENT_NODE) boxes.push(node.getBoundingClientRect())
    else if (node.nodeType === Node.TEXT_NODE) {
      range.selectNode(node)
      boxes.push(range.getBoundingClientRect())
    }
  }
  const shown = boxes.filter(({ width, height }) => width > 0 && height > 0)
  if (shown.length === 0) return null
  const [left, top] = ['left', 'top'].map((side) => Math.min(...shown.map((box) => box[side])))
  const [right, bottom] = ['right', 'bottom'].map((side) => Math.max(...shown.map((box) => box[side])))
  return { left, top, right, bottom }
}`

/** What a message about a selector without a match says of the page's frames, of which there are `count`; empty for none. */
export const unsearchedFrames = (count: number): string =>
  count === 0 ? '' : ` (frames are not searched; the page has ${count})`

/** The error for a caller's selector that passed request validation but that the browser rejects. */
export const invalidSelector = (parameter: string, selector: string, cause?: unknown): AppError =>
  new AppError('RENDER_ERROR', {
    publicMessage: `${parameter} '${selector}' is not a CSS selector.`,
    blame: 'caller',
    cause,
  })

/** Waits for `work`, which uses a caller's selector. Throws `RENDER_ERROR` that names the selector if the browser rejects it. */
export const usingSelector = async <T>(parameter: string, selector: string, work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (cause) {
    const isInvalid = /while parsing css selector|is not a valid selector/i.test(String(cause))
    throw isInvalid ? invalidSelector(parameter, selector, cause) : cause
  }
}
