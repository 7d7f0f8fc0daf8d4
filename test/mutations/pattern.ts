import { childrenOf, isNode, parse, type SyntaxNode } from '#test/tidy/syntax.ts'

/** The code that each metavariable of a pattern stands for. */
export type Bindings = ReadonlyMap<string, readonly SyntaxNode[]>

const metavariable = /^\$\$?\w*$/
/** Fields that differ between equal programs: positions, and spellings. */
const ignored = new Set(['start', 'end', 'raw', 'shorthand'])
/** Types, which a pattern may leave out. */
const omissible = new Set(['typeAnnotation', 'typeArguments', 'returnType'])

/** Code around an expression, properties or statements that makes it a program, and its depth in the tree of that. */
const wrappings = [
  { before: '(', after: '\n)', depth: 3 },
  { before: '({', after: '\n})', depth: 4 },
  { before: '(async () => {', after: '\n})', depth: 5 },
]

/** Parses an expression, properties or statements. */
export const parsePart = (code: string): SyntaxNode[] => {
  for (const { before, after, depth } of wrappings) {
    try {
      let nodes: SyntaxNode[] = [parse({ path: 'part.ts', text: before + code + after }).program]
      for (let level = 0; level < depth; level++) nodes = nodes.flatMap(childrenOf)
      return nodes
    } catch {
      // It is of another kind.
    }
  }
  throw new Error(`not an expression, property or statement: ${code}`)
}

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** The expression within parentheses. */
const unwrapped = (value: Fields): Fields =>
  value['type'] === 'ParenthesizedExpression' && isObject(value['expression']) ? unwrapped(value['expression']) : value

/** The name of a metavariable, which may be a whole statement or property. */
const metavariableOf = (value: unknown): string | undefined => {
  if (!isObject(value)) return undefined
  const { type, name } = value
  if (type === 'ExpressionStatement') return metavariableOf(value['expression'])
  if (type === 'Property' && value['shorthand'] === true) return metavariableOf(value['key'])
  return type === 'Identifier' && typeof name === 'string' && metavariable.test(name) ? name : undefined
}

/** Matches code against a pattern; undefined if it differs. */
export const matchPattern = (pattern: SyntaxNode, code: SyntaxNode): Bindings | undefined => {
  const bindings = new Map<string, readonly SyntaxNode[]>()
  const bind = (name: string, nodes: readonly SyntaxNode[]): boolean => {
    const bound = bindings.get(name)
    if (/\w/.test(name)) bindings.set(name, nodes)
    return bound === undefined || matchAll(bound, nodes)
  }
  const matchAll = (patterns: readonly unknown[], nodes: readonly unknown[]): boolean => {
    const rest = patterns.findIndex((each) => metavariableOf(each)?.startsWith('$$'))
    if (rest === -1)
      return patterns.length === nodes.length && patterns.every((each, index) => match(each, nodes[index]))
    const after = rest - patterns.length + 1
    const end = nodes.length + after
    if (end < rest) return false
    const isBound = bind(metavariableOf(patterns[rest]) ?? '', nodes.slice(rest, end).filter(isNode))
    return (
      isBound &&
      matchAll(patterns.slice(0, rest), nodes.slice(0, rest)) &&
      matchAll(patterns.slice(rest + 1), nodes.slice(end))
    )
  }
  const match = (expected: unknown, found: unknown): boolean => {
    const name = metavariableOf(expected)
    if (name !== undefined) return isNode(found) && bind(name, [found])
    if (Array.isArray(expected)) return Array.isArray(found) && matchAll(expected, found)
    if (!isObject(expected) || !isObject(found)) return expected === found
    const [fields, others] = [unwrapped(expected), unwrapped(found)]
    return Object.entries(fields).every(
      ([key, value]) => ignored.has(key) || (value === null && omissible.has(key)) || match(value, others[key]),
    )
  }
  return match(pattern, code) ? bindings : undefined
}
