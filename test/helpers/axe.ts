import axe from 'axe-core'
import type { Page } from 'playwright'

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] }

/** What axe finds on a page that has loaded: rules with the elements that break them. The words of what loads fade in. */
export const violationsOn = async (page: Page): Promise<string[]> => {
  await page.waitForSelector('.loading', { state: 'detached' })
  // Pages of the console share a document.
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    'axe.run(document, { resultTypes: ["violations"] })',
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
