import type { SourceFile } from '#test/tidy/source.ts'
import { childrenOf, parse, type SyntaxNode } from '#test/tidy/syntax.ts'
import type { Fault } from './mutation.ts'
import { type Bindings, matchPattern, parsePart } from './pattern.ts'
import type { Edit, Range } from './seeded/change.ts'
import { itemsOf, withComma } from './seeded/list-changes.ts'

/** A node, and those around it from the outermost. */
type Placed = { readonly node: SyntaxNode; readonly around: readonly SyntaxNode[] }

function* placed(node: SyntaxNode, around: readonly SyntaxNode[] = []): Generator<Placed> {
  yield { node, around }
  for (const child of childrenOf(node)) yield* placed(child, [...around, node])
}

const declaredName = (node: SyntaxNode): string | undefined => {
  switch (node.type) {
    case 'VariableDeclarator':
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
      return node.id?.type === 'Identifier' ? node.id.name : undefined
    case 'Property':
    case 'MethodDefinition':
      if (node.type === 'Property' && node.shorthand) return undefined
      if (node.key.type === 'PrivateIdentifier') return `#${node.key.name}`
      return node.key.type === 'Identifier' ? node.key.name : undefined
    default:
      return undefined
  }
}

/** The declarations with the last of the names, within declarations with the others; of these the outermost. */
const findDeclarations = (all: readonly Placed[], names: readonly string[]): Placed[] => {
  const found = all.flatMap((place) => {
    const outer = place.around.flatMap((node) => declaredName(node) ?? [])
    const others = names.slice(0, -1)
    const last = others.reduce((from, name) => (from === -1 ? -1 : outer.indexOf(name, from) + 1 || -1), 0)
    return last !== -1 && declaredName(place.node) === names.at(-1) ? { place, depth: outer.length } : []
  })
  const least = Math.min(...found.map(({ depth }) => depth))
  return found.flatMap(({ place, depth }) => (depth === least ? place : []))
}

const compound = /^(?:Binary|Logical|Conditional|Assignment|ArrowFunction|Unary|Await|TSAs)Expression$/
const parenthesized = (text: string, { type }: SyntaxNode) => (compound.test(type) ? `(${text})` : text)

/** The names that code reads; those of properties are not among them. */
const namesIn = (node: SyntaxNode): string[] => {
  if (node.type === 'Identifier') return node.name.startsWith('$') ? [] : [node.name]
  const key = node.type === 'MemberExpression' ? node.property : node.type === 'Property' ? node.key : undefined
  return childrenOf(node).flatMap((child) => (child === key ? [] : namesIn(child)))
}

const isInFunction = ({ around }: Placed) => around.some(({ type }) => /Function/.test(type))

/** Throws if code has a name that does not exist at a place: any test would fail with it. */
const assertNamesExist = (parts: readonly SyntaxNode[], { around }: Placed, all: readonly Placed[]): void => {
  const near = all.filter((each) => each.around[1] === around[1] || !isInFunction(each))
  const known = new Set(near.flatMap(({ node }) => (node.type === 'Identifier' ? node.name : [])))
  const unknown = parts.flatMap(namesIn).filter((name) => !known.has(name) && !(name in globalThis))
  if (unknown.length > 0) throw new Error(`the name ${unknown.join(', ')} does not exist there`)
}

const replacement = (file: SourceFile, { node, around }: Placed, by: string, bindings: Bindings): Edit => {
  const [first, ...others] = parsePart(by)
  const text = by.replaceAll(/\$\$?\w+/g, (name) => {
    const nodes = bindings.get(name)
    if (!nodes) throw new Error(`${name} of "${by}" is not in what it replaces`)
    const [start, end] = [nodes[0], nodes.at(-1)]
    return start && end ? parenthesized(file.text.slice(start.start, end.end), start) : ''
  })
  const isStatement = others.length > 0 || around.at(-1)?.type === 'ExpressionStatement'
  return { start: node.start, end: node.end, text: first && !isStatement ? parenthesized(text, first) : text }
}

/** Removes a node from what is around it; undefined where that is not possible. */
const removal = (file: SourceFile, { node, around }: Placed): Edit | undefined => {
  const parent = around.at(-1)
  // In place of a body, a semicolon is a statement too.
  if (node.type.endsWith('Statement')) return { start: node.start, end: node.end, text: ';' }
  if (!parent) return undefined
  if (/^(?:Parenthesized|Await|Chain)Expression$|^ExpressionStatement$/.test(parent.type))
    return removal(file, { node: parent, around: around.slice(0, -1) })
  if (parent.type === 'LogicalExpression' || (parent.type === 'BinaryExpression' && /^[+-]$/.test(parent.operator))) {
    const other = parent.left === node ? parent.right : parent.left
    const isPossible = parent.operator !== '-' || other === parent.left
    return isPossible
      ? { start: parent.start, end: parent.end, text: file.text.slice(other.start, other.end) }
      : undefined
  }
  return itemsOf(parent).some((item) => item === node) ? { ...withComma(file.text, node), text: '' } : undefined
}

const textEdits = (file: SourceFile, range: Range, find: string, by: string): Edit[] => {
  const parts = file.text.slice(range.start, range.end).split(find)
  return parts.slice(1).map((_, index) => {
    const start = range.start + parts.slice(0, index + 1).join(find).length
    return { start, end: start + find.length, text: by }
  })
}

const isText = ({ type }: SyntaxNode) => type === 'Literal' || type === 'TemplateElement'

const editsIn = (file: SourceFile, scope: readonly Placed[], fault: Fault): { edit: Edit; place: Placed }[] => {
  const [pattern, ...others] = 'replaceText' in fault ? [] : parsePart(targetOf(fault))
  if (others.length > 0) throw new Error('more than one expression, property or statement to find')
  const editsAt = (place: Placed): readonly (Edit | undefined)[] => {
    if ('replaceText' in fault)
      return isText(place.node) ? textEdits(file, place.node, fault.replaceText, fault.by) : []
    const isMatchable = pattern && place.node.type !== 'ParenthesizedExpression'
    const bindings = isMatchable && matchPattern(pattern, place.node)
    if (!bindings) return []
    return ['drop' in fault ? removal(file, place) : replacement(file, place, fault.by, bindings)]
  }
  return scope.flatMap((place) => editsAt(place).flatMap((edit) => (edit ? { edit, place } : [])))
}

/** The code that a fault changes or removes. */
export const targetOf = (fault: Fault): string =>
  'drop' in fault ? fault.drop : 'replace' in fault ? fault.replace : fault.replaceText

/** The only one of `found`; throws with the places of several, or with what there is instead. */
const theOnly = <T>(found: readonly T[], what: string, show: (item: T) => string, instead: readonly string[]): T => {
  const [item, ...others] = found
  if (item === undefined) throw new Error(`no ${what} among: ${instead.join(', ')}`)
  if (others.length > 0) throw new Error(`${found.length} places with ${what}: ${found.map(show).join(', ')}`)
  return item
}

/** The edit that injects a fault into its file; throws unless there is exactly one place for it. */
export const findEdit = (file: SourceFile, fault: Fault): Edit => {
  const show = ({ start, end }: Range) =>
    `line ${file.text.slice(0, start).split('\n').length} (${file.text.slice(start, end).replaceAll(/\s+/g, ' ').slice(0, 60)})`
  const [, ...names] = fault.at.split(' > ')
  const target = targetOf(fault)
  const showPlace = ({ node }: Placed) => show(node)
  try {
    if (!file.path.endsWith('.ts') && 'replaceText' in fault)
      return theOnly(textEdits(file, { start: 0, end: file.text.length }, target, fault.by), target, show, [])
    const all = [...placed(parse(file).program)]
    const declared = all.flatMap(({ node }) => declaredName(node) ?? [])
    const scope =
      names.length === 0 ? all[0] : theOnly(findDeclarations(all, names), names.join(' > '), showPlace, declared)
    const within = all.filter(({ node, around }) => node === scope?.node || (scope && around.includes(scope.node)))
    const [like] = 'replaceText' in fault ? [] : parsePart(target)
    const alike = within.flatMap(({ node }) => (node.type === like?.type ? show(node) : []))
    const found = theOnly(editsIn(file, within, fault), target, ({ edit }) => show(edit), alike)
    if ('replace' in fault) assertNamesExist(parsePart(fault.by), found.place, all)
    return found.edit
  } catch (error) {
    throw new Error(`${fault.at}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
