import type { SourceFile } from '#test/tidy/source.ts'
import type { Change, Place } from './change.ts'

/** What follows the end of a predicate or an assigned value. */
const clause = 'and|or|where|from|limit|order|group|returning|for|then|union|on'
const removedPredicate = new RegExp(`\\band (?:[^()\\s]|\\([^()]*\\)| (?!(?:${clause})\\b))+`, 'g')
/** Of several that a statement sets. */
const removedColumn = new RegExp(`, \\w+ = (?:[^(),\\s]|\\([^()]*\\)| (?!(?:${clause})\\b))+`, 'g')

const rules: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/\bfor (no key )?update( of \w+)?( skip locked)?\b/g, ''],
  [/(?<![<>=-])<(?![<>=])/g, '<='],
  [/(?<![<>=-])>(?![<>=])/g, '>='],
  [/<=/g, '<'],
  [/(?<!=)>=/g, '>'],
  [/\band\b/g, 'or'],
  [/\bor\b(?! replace)/g, 'and'],
  [/\bdesc\b/g, 'asc'],
  [/\bleast\(/g, 'greatest('],
  [/\bgreatest\(/g, 'least('],
  [/\bis null\b/g, 'is not null'],
  [/\bis not null\b/g, 'is null'],
  [removedPredicate, ''],
  [removedColumn, ''],
  // One of several listed values removed.
  [/, '[^']*'(?=[,)])/g, ''],
  [/(?<![\w$.'])(?:[2-9]|\d{2,})(?![\w.])/g, (found) => `${Number(found) * 2}`],
]

/** Single-place changes of SQL: locks, comparisons, connectives, orders, predicates, columns, values and numbers. Comments stay as they are. */
export const sqlChangesIn = (text: string): Place[] => {
  const code = text.replaceAll(/--[^\n]*/g, (comment) => ' '.repeat(comment.length))
  return rules.flatMap(([pattern, other]) =>
    [...code.matchAll(pattern)].map(({ 0: found, index }) => ({
      kind: 'sql' as const,
      start: index,
      end: index + found.length,
      text: typeof other === 'string' ? other : other(found),
    })),
  )
}

/** The changes of an SQL file. */
export const sqlChanges = ({ path, text }: SourceFile): Change[] =>
  sqlChangesIn(text).map((change) => ({ file: path, ...change }))
