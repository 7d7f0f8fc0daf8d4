/** Most rules of a page's styles that are read. */
const rulesMax = 20_000

/**
 * A function that reads what a page's styles say of paper: whether any may be for print only, as those of a sheet that cannot be read
 * may, whether they set the size of the pages, and a selector of what rules for print place.
 */
export const readPrintStyles = `() => {
  const found = { areForPrint: false, setPageSize: false, placed: '' }
  const selectors = []
  let left = ${rulesMax}
  const isForPrint = (media) => /\\bprint\\b/.test(media?.mediaText ?? '')
  const readRules = (owner, isPrint) => {
    let rules
    try {
      rules = owner.cssRules
    } catch {
      found.areForPrint = true
      return
    }
    for (const rule of rules ?? []) {
      if ((left -= 1) < 0) return
      if (rule instanceof CSSPageRule) found.setPageSize ||= rule.style.getPropertyValue('size') !== ''
      else if (rule instanceof CSSImportRule) readSheet(rule.styleSheet, isPrint || isForPrint(rule.media))
      else if (rule instanceof CSSStyleRule) {
        found.areForPrint ||= isPrint
        if (isPrint && rule.style.position !== '') selectors.push(rule.selectorText)
        // Rules nest.
        if (rule.cssRules.length > 0) readRules(rule, isPrint)
      } else if (rule.cssRules) readRules(rule, isPrint || isForPrint(rule.media))
    }
  }
  const readSheet = (sheet, isPrint = false) => {
    if (!sheet || sheet.disabled) return
    readRules(sheet, isPrint || isForPrint(sheet.media))
  }
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) readSheet(sheet)
  found.areForPrint ||= document.querySelector('source[media*=print i]') !== null
  // One that is invalid here is left out.
  found.placed = ':is(' + selectors.join() + ')'
  return found
}`
