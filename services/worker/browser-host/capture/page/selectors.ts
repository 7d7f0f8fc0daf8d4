import { AppError } from '#shared/errors/app-error.ts'

/** The first match of a selector in the document and its open shadow roots, as an expression of JavaScript; null where there is none. */
export const findFirst = (selector: string): string => `((selector) => {
  const roots = [document]
  for (const root of roots) {
    const found = root.querySelector(selector)
    if (found) return found
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) roots.push(element.shadowRoot)
  }
  return null
})(${JSON.stringify(selector)})`

/** The error for a caller's selector that the browser rejects, which the check of the request could not find. */
export const invalidSelector = (parameter: string, selector: string, cause?: unknown): AppError =>
  new AppError('RENDER_ERROR', { publicMessage: `${parameter} '${selector}' is not a CSS selector.`, cause })

/** Waits for what uses a caller's selector. Throws `RENDER_ERROR` that names it where the browser takes it for none. */
export const usingSelector = async <T>(parameter: string, selector: string, work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (cause) {
    const isInvalid = /while parsing css selector|is not a valid selector/i.test(String(cause))
    throw isInvalid ? invalidSelector(parameter, selector, cause) : cause
  }
}
