import { createParser } from 'css-selector-parser'
import type { Faults } from '#shared/capture/faults.ts'

/** What Playwright and jQuery take for pseudo-classes and CSS does not know; a browser refuses them, or would match another thing. */
const foreign = new Set(
  (
    'above below has-text left-of light near nth-match right-of text text-is text-matches visible ' +
    'contains eq even first gt hidden last lt odd'
  ).split(' '),
)

// Not strict, since a class may begin with two hyphens.
const parse = createParser({
  strict: false,
  syntax: { baseSyntax: 'progressive', pseudoClasses: { definitions: { Selector: ['-webkit-any'] } } },
})

/** Appended to every list. The parser closes what is open at the end, and stops at a bracket that nothing opened: then this is not the last selector. */
const end = 'end-of-selectors'

/** No prefix of a namespace is declared in a query. */
const isRefused = (node: { readonly type?: unknown; readonly name?: unknown }): boolean =>
  node.type === 'NamespaceName' || (node.type === 'PseudoClass' && foreign.has(String(node.name)))

/** Goes over every node once; the parser's own walk copies all parents of each. */
const holdsRefused = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (isRefused(value) || Object.values(value).some(holdsRefused))

/**
 * Whether a text of one line is a list of CSS selectors (Selectors 4 §18) as far as its form tells, and nothing of what
 * Playwright adds to CSS. Arguments of pseudo-classes that are not known are not looked into.
 */
export const isSelector = (selector: string): boolean => {
  try {
    // The parser knows pseudo-classes in lower case only.
    const list = parse(`${selector.toLowerCase()},${end}`)
    const [last] = list.rules.at(-1)?.items ?? []
    return last?.type === 'TagName' && last.name === end && !holdsRefused(list)
  } catch {
    // The parser takes one selector behind `:nth-child(2n of`, CSS a list of them: the browser is left to judge.
    return /[0-9nd] of /i.test(selector)
  }
}

const names = ['wait_for_selector', 'selector', 'click_selector', 'scroll_to'] as const

/** Checks the form of every selector whose text has no other fault, and of none where a list has too many of them. */
export const checkSelectors = (
  input: Readonly<Record<string, unknown>>,
  { report, hasFault, hasFaultWithin }: Faults,
): void => {
  const { hide_selectors: hidden } = input
  const all: [field: string, value: unknown][] = [
    ...names.map((name): [string, unknown] => [name, input[name]]),
    ...(Array.isArray(hidden) && !hasFault('hide_selectors')
      ? hidden.map((value, index): [string, unknown] => [`hide_selectors.${index}`, value])
      : []),
  ]
  for (const [field, value] of all) {
    if (typeof value === 'string' && !hasFaultWithin(field) && !isSelector(value))
      report(field, 'must be a CSS selector')
  }
}
