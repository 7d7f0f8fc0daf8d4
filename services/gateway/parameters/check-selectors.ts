import type { Faults } from '#shared/capture/faults.ts'
import { isSelector } from './is-selector.ts'

const names = ['wait_for_selector', 'selector', 'click_selector', 'scroll_to'] as const

/** Checks the form of every selector whose text has no other fault, and of none where a list has too many of them. */
export const checkSelectors = (input: Readonly<Record<string, unknown>>, { report, has, isNamed }: Faults): void => {
  const { hide_selectors: hidden } = input
  const all: [field: string, value: unknown][] = [
    ...names.map((name): [string, unknown] => [name, input[name]]),
    ...(Array.isArray(hidden) && !isNamed('hide_selectors')
      ? hidden.map((value, index): [string, unknown] => [`hide_selectors.${index}`, value])
      : []),
  ]
  for (const [field, value] of all) {
    if (typeof value === 'string' && !has(field) && !isSelector(value)) report(field, 'must be a CSS selector')
  }
}
