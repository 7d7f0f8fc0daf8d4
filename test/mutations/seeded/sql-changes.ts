import type { SourceFile } from '#test/tidy/source.ts'
import type { Change } from './change.ts'

const rules: readonly (readonly [RegExp, string])[] = [
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
]

/** Single-place changes of an SQL file: locks, comparisons, connectives, orders. Comments stay as they are. */
export const sqlChanges = ({ path, text }: SourceFile): Change[] => {
  const code = text.replaceAll(/--[^\n]*/g, (comment) => ' '.repeat(comment.length))
  return rules.flatMap(([pattern, other]) =>
    [...code.matchAll(pattern)].map(({ 0: found, index }) => ({
      file: path,
      kind: 'sql' as const,
      start: index,
      end: index + found.length,
      text: other,
    })),
  )
}
