/** Elements of a document after which no further shadow roots are looked for. */
export const elementsMax = 20_000

/** A function of a root in a page: the root and the open shadow roots below it. */
export const openRoots = `(first) => {
  const roots = [first]
  let seen = 0
  for (const root of roots) {
    for (const element of root.querySelectorAll('*')) {
      if ((seen += 1) > ${elementsMax}) return roots
      if (element.shadowRoot) roots.push(element.shadowRoot)
    }
  }
  return roots
}`
