import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'yaml'

type Labels = Readonly<Record<string, string>>

/** A rule of `inhibit_rules` in the configuration of Alertmanager. */
type InhibitRule = {
  readonly source_matchers: readonly string[]
  readonly target_matchers: readonly string[]
  readonly equal: readonly string[]
}

const page = resolve(import.meta.dirname, '../../docs/monitoring.md')

/** The inhibition rules that docs/monitoring.md documents. */
export const readInhibitRules = (): InhibitRule[] => {
  const [, block] = /```yaml\n(inhibit_rules:\n[^`]*)```/.exec(readFileSync(page, 'utf8')) ?? []
  if (block === undefined) throw new Error(`${page} has no block with inhibit_rules`)
  return (parse(block) as { inhibit_rules: InhibitRule[] }).inhibit_rules
}

/** Whether an alert has the labels of a matcher such as `alertname =~ "A|B"`; an absent label is empty. */
const satisfies = (alert: Labels, matcher: string): boolean => {
  const [, label = '', operator, value = ''] = /^(\w+) *(=~|!~|!=|=) *"(.*)"$/.exec(matcher) ?? []
  if (operator === undefined) throw new Error(`not a matcher: ${matcher}`)
  const actual = alert[label] ?? ''
  const isEqual = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(actual) : actual === value
  return isEqual !== operator.startsWith('!')
}

/** Whether an alert has the labels of all matchers. */
export const satisfiesAll = (alert: Labels, matchers: readonly string[]): boolean =>
  matchers.every((matcher) => satisfies(alert, matcher))

/** The firing alerts that Alertmanager sends: those that no other one inhibits. */
export const sentAlerts = <T extends Labels>(firing: readonly T[], rules = readInhibitRules()): T[] =>
  firing.filter(
    (target) =>
      !rules.some(
        (rule) =>
          satisfiesAll(target, rule.target_matchers) &&
          firing.some(
            (source) =>
              source !== target &&
              satisfiesAll(source, rule.source_matchers) &&
              rule.equal.every((label) => (source[label] ?? '') === (target[label] ?? '')),
          ),
      ),
  )
