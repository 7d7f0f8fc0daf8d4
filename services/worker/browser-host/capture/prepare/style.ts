import type { OpenPage } from '#worker/browser-host/capture/equip/open-page.ts'
import { runInEveryRoot } from './in-every-frame.ts'
import { invalidSelector } from './selector-errors.ts'

/**
 * Adopts a style sheet in a root and in the open shadow roots below it, in place of the one that it adopted before, and
 * counts what each selector matches; null for what is no selector. Style sheets that are constructed are not the page's content policy's matter.
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
 * Adds `css` to every frame and shadow root and takes what `hide` matches out of the layout. Answers the selectors that
 * matched nothing. Throws `RENDER_ERROR` that names one which is none. May be called again: what has come since is included.
 */
export const applyStyle = async (
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
