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
