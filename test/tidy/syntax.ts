import { type Node, parseSync, visitorKeys } from 'oxc-parser'
import { type Finding, findingAt, type SourceFile } from './source.ts'

/** A node of the syntax tree with the fields that checks read; which of them exist depends on `type`. */
export type SyntaxNode = Node

/** A module named by a file: `import`, `export … from`, `import()` or `import('…')` in a type. */
export type Import = { readonly specifier: string; readonly typeOnly: boolean; readonly node: SyntaxNode }

const memoize = <T extends object>(make: (file: SourceFile) => T) => {
  const cache = new WeakMap<SourceFile, T>()
  return (file: SourceFile): T => {
    const cached = cache.get(file)
    if (cached) return cached
    const made = make(file)
    cache.set(file, made)
    return made
  }
}

/** Parses a file; throws on a syntax error, so that no check passes on a file it could not read. */
export const parse = memoize((file) => {
  const parsed = parseSync(file.path, file.text)
  const [error] = parsed.errors
  if (error) throw new Error(`${file.path}: ${error.message}`)
  return parsed
})

/** The nodes directly below a node, in source order. */
export const childrenOf = (node: SyntaxNode): SyntaxNode[] =>
  (visitorKeys[node.type] ?? []).flatMap((key) => {
    const child: unknown = node[key as keyof SyntaxNode]
    return (Array.isArray(child) ? child : [child]).filter(isNode)
  })

/** The node and every node below it, in source order. */
function* nodesOf(node: SyntaxNode): Generator<SyntaxNode> {
  yield node
  for (const child of childrenOf(node)) yield* nodesOf(child)
}

/** Whether a value in the tree is a node, not a list or a property of one. */
export const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value

/** A finding at a node of a file. */
export const findingOn = (file: SourceFile, node: SyntaxNode, rule: string, message: string): Finding =>
  findingAt(file, node.start, rule, message)

/** Every node of a file, in source order. */
export const nodesIn: (file: SourceFile) => readonly SyntaxNode[] = memoize((file) => [...nodesOf(parse(file).program)])

/** Every module that the file names, static or dynamic; `specifier` is empty where it is computed. */
export const importsOf = (file: SourceFile): Import[] => nodesIn(file).flatMap((node) => importOf(node) ?? [])

const importOf = (node: SyntaxNode): Import | undefined => {
  switch (node.type) {
    case 'ImportDeclaration':
      return { specifier: node.source.value, typeOnly: node.importKind === 'type', node }
    case 'ExportAllDeclaration':
      return { specifier: node.source.value, typeOnly: node.exportKind === 'type', node }
    case 'ExportNamedDeclaration':
      return node.source ? { specifier: node.source.value, typeOnly: node.exportKind === 'type', node } : undefined
    case 'ImportExpression':
      return { specifier: literalOf(node.source), typeOnly: false, node }
    case 'TSImportType':
      return { specifier: node.source.value, typeOnly: true, node }
    default:
      return undefined
  }
}

/** The text of a string literal; `''` for anything computed. */
const literalOf = (node: SyntaxNode): string =>
  node.type === 'Literal' && typeof node.value === 'string' ? node.value : ''

/** The names of one export statement; an overloaded function has the same name several times. */
export const exportedNames = (statement: Extract<SyntaxNode, { type: 'ExportNamedDeclaration' }>): string[] => {
  const { declaration } = statement
  if (!declaration)
    return statement.specifiers.map(({ exported }) => ('name' in exported ? exported.name : exported.value))
  if (declaration.type === 'VariableDeclaration')
    return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
  return 'id' in declaration && declaration.id?.type === 'Identifier' ? [declaration.id.name] : []
}

/** The package of a specifier: `@scope/name` or `name`; undefined for files, subpath imports and built-in modules. */
export const packageOf = (specifier: string): string | undefined =>
  /^[.#/]|^node:|^$/.test(specifier) ? undefined : /^(@[^/]+\/[^/]+|[^/]+)/.exec(specifier)?.[0]
