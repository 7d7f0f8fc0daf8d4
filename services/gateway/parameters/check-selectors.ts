import { createParser } from 'css-selector-parser'
import type { ErrorCollector } from '#shared/capture/validation-errors.ts'

/** Pseudo-classes of Playwright and jQuery that CSS does not define: a browser rejects them or matches something else. */
const nonCssPseudoClasses = new Set(
  (
    'above below has-text left-of light near nth-match right-of text text-is text-matches visible ' +
    'contains eq even first gt hidden last lt odd'
  ).split(' '),
)

// Not strict, because a class name may begin with two hyphens.
const parse = createParser({
  strict: false,
  syntax: { baseSyntax: 'progressive', pseudoClasses: { definitions: { Selector: ['-webkit-any'] } } },
})

/** Appended to every list. The parser closes open brackets at the end, and stops at an unmatched one: then this is not the last selector. */
const end = 'end-of-selectors'

/** Namespace prefixes are refused too, because selector queries declare none. */
const isRefused = (node: { readonly type?: unknown; readonly name?: unknown }): boolean =>
  node.type === 'NamespaceName' || (node.type === 'PseudoClass' && nonCssPseudoClasses.has(String(node.name)))

/** Visits every node once; the parser's own walk copies all parents of each. */
const containsRefused = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (isRefused(value) || Object.values(value).some(containsRefused))

/**
 * Whether a one-line text has the form of a CSS selector list (Selectors 4 §18), without Playwright's extensions. Arguments
 * of unknown pseudo-classes are not checked.
 */
export const isSelector = (selector: string): boolean => {
  try {
    // The parser supports pseudo-classes in lower case only.
    const list = parse(`${selector.toLowerCase()},${end}`)
    const [last] = list.rules.at(-1)?.items ?? []
    return last?.type === 'TagName' && last.name === end && !containsRefused(list)
  } catch {
    // The parser accepts one selector after `:nth-child(2n of` or `(odd of`, CSS a list: leave the check to the browser.
    return /[0-9nd] of /i.test(selector)
  }
}

const names = [
  'wait_for_selector',
  'wait_for_selector_hidden',
  'fail_if_selector_missing',
  'fail_if_selector_present',
  'selector',
  'click_selector',
  'scroll_to',
] as const

type Named = readonly [field: string, value: unknown]

const entriesOf = (list: unknown): [index: number, entry: unknown][] => (Array.isArray(list) ? [...list.entries()] : [])

/** Checks the form of every selector whose text has no other error; skips those of a list that has one itself. */
export const checkSelectors = (
  input: Readonly<Record<string, unknown>>,
  { report, hasError, hasErrorWithin }: ErrorCollector,
): void => {
  const { hide_selectors: hidden, actions } = input
  const all: Named[] = [
    ...names.map((name): Named => [name, input[name]]),
    ...(hasError('hide_selectors')
      ? []
      : entriesOf(hidden).map(([index, value]): Named => [`hide_selectors.${index}`, value])),
    ...(hasError('actions')
      ? []
      : entriesOf(actions).map(([index, entry]): Named => [`actions.${index}.selector`, Object(entry).selector])),
  ]
  for (const [field, value] of all) {
    if (typeof value === 'string' && !hasErrorWithin(field) && !isSelector(value))
      report(field, 'must be a CSS selector')
  }
}
