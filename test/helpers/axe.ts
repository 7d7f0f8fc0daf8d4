import axe from 'axe-core'
import type { Page } from 'playwright'

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] }

/** What axe finds on a page as it is: rules with the elements that break them. */
export const violationsOn = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>('axe.run(document)')
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
