import type { Finding, SourceFile } from '#test/tidy/source.ts'
import { findingOn, nodesIn, type SyntaxNode } from '#test/tidy/syntax.ts'

const owner = 'services/shared/queue/'
const prefix = /^(capture|started|result|event|worker|pool|backlog|stage|relay)\./
/** After the prefix: nothing (an id is appended), a wildcard, or a second dot. */
const rest = /^$|[*>]|\./

/** NATS subjects are written in shared/queue only. A name of two plain words, such as a metric's, is not a subject. */
export const subjects = (files: readonly SourceFile[]): Finding[] =>
  files
    .filter(({ path }) => path.startsWith('services/') && !path.startsWith(owner))
    .flatMap((file) =>
      nodesIn(file)
        .filter(isSubject)
        .map((node) => findingOn(file, node, 'subjects', `a subject is built by ${owner}subjects.ts`)),
    )

const isSubject = (node: SyntaxNode): boolean => {
  if (node.type === 'TemplateLiteral')
    return prefix.test(literalText(node)) && (node.expressions.length > 0 || isSubjectText(literalText(node)))
  return node.type === 'Literal' && typeof node.value === 'string' && isSubjectText(node.value)
}

const literalText = (node: Extract<SyntaxNode, { type: 'TemplateLiteral' }>): string => node.quasis[0]?.value.raw ?? ''

const isSubjectText = (text: string): boolean => {
  const start = prefix.exec(text)
  return start !== null && rest.test(text.slice(start[0].length))
}
