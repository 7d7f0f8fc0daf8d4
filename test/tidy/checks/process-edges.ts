import { isMain } from '#test/tidy/place.ts'
import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'
import { findingOn, importsOf, nodesIn, type SyntaxNode } from '#test/tidy/syntax.ts'

const rule = 'process-edges'

/** APIs that tie code to its process. */
export type Edge = 'env' | 'signal' | 'exit' | 'listen'

/** A file, or a folder ending in `/`, that may use an edge without being a main file, and why. */
export type EdgeException = { readonly path: string; readonly edges: readonly Edge[]; readonly reason: string }

/** The environment, signals, exits and listening belong to main files; an unused exception is a finding too. */
export const processEdges = (files: readonly SourceFile[], exceptions: readonly EdgeException[]): Finding[] => {
  const services = files.filter(({ path }) => path.startsWith('services/') && !isMain(path))
  const uses = services.flatMap((file) =>
    edgesIn(file).map(({ edge, node }) => ({ file, edge, node, exception: exceptionFor(exceptions, file, edge) })),
  )
  const unused = exceptions.flatMap(({ path, edges }) =>
    edges
      .filter((edge) => !uses.some((use) => use.edge === edge && use.exception?.path === path))
      .map((edge) => findingAt({ path, text: '' }, 0, rule, `the exception for ${edge} is not used`)),
  )
  return [
    ...uses
      .filter(({ exception }) => !exception)
      .map(({ file, edge, node }) => findingOn(file, node, rule, `${edge} belongs to a main file`)),
    ...unused,
  ]
}

const exceptionFor = (exceptions: readonly EdgeException[], file: SourceFile, edge: Edge): EdgeException | undefined =>
  exceptions.find(
    ({ path, edges }) => edges.includes(edge) && (path.endsWith('/') ? file.path.startsWith(path) : file.path === path),
  )

const edgesIn = (file: SourceFile): { edge: Edge; node: SyntaxNode }[] => [
  ...nodesIn(file).flatMap((node) => {
    const edge = edgeOf(node)
    return edge ? [{ edge, node }] : []
  }),
  ...importsOf(file)
    .filter(({ specifier }) => /^(node:)?process$/.test(specifier))
    .map(({ node }) => ({ edge: 'env' as const, node })),
]

const edgeOf = (node: SyntaxNode): Edge | undefined => {
  if (node.type === 'CallExpression') return calledEdge(node)
  if (node.type === 'VariableDeclarator' && node.id.type === 'ObjectPattern')
    return node.init?.type === 'Identifier' && node.init.name === 'process' ? 'env' : undefined
  if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier') return undefined
  const name = `${node.object.name}.${memberName(node)}`
  if (name === 'process.env') return 'env'
  return /^process\.(exit|abort|reallyExit)$/.test(name) ? 'exit' : undefined
}

const calledEdge = ({ callee, arguments: [event] }: Extract<SyntaxNode, { type: 'CallExpression' }>) => {
  if (callee.type !== 'MemberExpression') return undefined
  const name = memberName(callee)
  if (name === 'listen') return 'listen'
  const isSignal = event?.type === 'Literal' && typeof event.value === 'string' && event.value.startsWith('SIG')
  return isSignal && /^(on|once|addListener|prependListener)$/.test(name) ? 'signal' : undefined
}

const memberName = (node: Extract<SyntaxNode, { type: 'MemberExpression' }>): string => {
  if (node.property.type === 'Identifier' && !node.computed) return node.property.name
  return node.property.type === 'Literal' && typeof node.property.value === 'string' ? node.property.value : ''
}
