import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'
import { findingOn, nodesIn, parse, type SyntaxNode } from '#test/tidy/syntax.ts'

const rule = 'casts'

/** One cast that a file may contain, and why the types cannot say it. */
export type AllowedCast = { readonly path: string; readonly reason: string }

/**
 * No cast turns off the compiler: none to `never` or `any`, none of a cast (`as unknown as T`), and no comment that
 * silences an error. An allowed cast that is gone is a finding too.
 */
export const casts = (files: readonly SourceFile[], allowed: readonly AllowedCast[]): Finding[] => {
  const left = allowed.map(({ path }) => path)
  const isAllowed = ({ path }: Finding) => {
    const index = left.indexOf(path)
    if (index >= 0) left.splice(index, 1)
    return index >= 0
  }
  const findings = files.flatMap(castsIn).filter((finding) => !isAllowed(finding))
  return [...findings, ...left.map((path) => findingAt({ path, text: '' }, 0, rule, 'an allowed cast is gone'))]
}

const castsIn = (file: SourceFile): Finding[] => [
  ...nodesIn(file).flatMap((node) => {
    const fault = findCast(node)
    return fault ? [findingOn(file, node, rule, fault)] : []
  }),
  ...parse(file)
    .comments.filter(({ value }) => /^[\s/*]*@ts-(expect-error|ignore|nocheck)\b/.test(value))
    .map(({ start }) => findingAt(file, start, rule, 'a comment silences the compiler')),
]

const findCast = (node: SyntaxNode): string | undefined => {
  if (!isCast(node)) return undefined
  if (node.typeAnnotation.type === 'TSNeverKeyword') return 'a cast to never fits every type'
  if (node.typeAnnotation.type === 'TSAnyKeyword') return 'a cast to any fits every type'
  return isCast(withoutParentheses(node.expression)) ? 'a cast of a cast fits every type' : undefined
}

const isCast = (node: SyntaxNode) => node.type === 'TSAsExpression' || node.type === 'TSTypeAssertion'

const withoutParentheses = (node: SyntaxNode): SyntaxNode =>
  node.type === 'ParenthesizedExpression' ? withoutParentheses(node.expression) : node
