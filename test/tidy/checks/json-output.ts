import type { Finding, SourceFile } from '#test/tidy/source.ts'
import { findingOn, nodesIn, type SyntaxNode } from '#test/tidy/syntax.ts'

const rule = 'json-output'

/** Whether the code takes the method that writes to standard output past `--json`. */
const takesWrite = (node: SyntaxNode): boolean => {
  if (node.type === 'MemberExpression') {
    const { object, property } = node
    if (object.type !== 'Identifier' || property.type !== 'Identifier') return false
    return /^(context\.write|process\.stdout|console\.log)$/.test(`${object.name}.${property.name}`)
  }
  return (
    node.type === 'ObjectPattern' &&
    node.properties.some(
      (each) => each.type === 'Property' && each.key.type === 'Identifier' && each.key.name === 'write',
    )
  )
}

/** Commands print data by `print` and `printEach`, which have a form for `--json`; `exceptions` are files with other output. */
export const jsonOutput = (files: readonly SourceFile[], exceptions: readonly string[]): Finding[] =>
  files
    .filter(({ path }) => path.startsWith('services/cli/') && !exceptions.includes(path))
    .flatMap((file) =>
      nodesIn(file)
        .filter(takesWrite)
        .map((node) =>
          findingOn(file, node, rule, 'print data with `print` or `printEach`, so that --json has it too'),
        ),
    )
