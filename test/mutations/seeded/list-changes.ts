import type { SyntaxNode } from '#test/tidy/syntax.ts'
import { type ChangeKind, type Place, type Range, replace } from './change.ts'

/** An item of a list, with the comma after it. */
export const withComma = (text: string, { start, end }: Range): Range => ({
  start,
  end: end + (/^\s*,/.exec(text.slice(end))?.[0].length ?? 0),
})

/** The word of a name that says of which type it is: `Ms` of `config.answerMs`; undefined for anything but a name. */
const unitOf = (name: string): string | undefined =>
  /^[\w$.]+$/.test(name) ? /[A-Z][a-z]+$/.exec(name)?.[0] : undefined

/** The next item in the list whose name ends in the same word. */
const siblingOf = (names: readonly string[], name: string): string | undefined => {
  const unit = unitOf(name)
  return unit && names.find((each) => each !== name && unitOf(each) === unit)
}

/** Each name among the items replaced by another one of the same unit. */
const exchanged = (items: readonly Range[], text: string): Place[] => {
  const names = items.map(({ start, end }) => text.slice(start, end))
  return items.flatMap((item, index) => {
    const other = siblingOf(names, names[index] ?? '')
    return other === undefined ? [] : replace('name', item, other)
  })
}

/** Each shorthand of an object given the value of another one of the same unit. */
const exchangedShorthands = (node: Extract<SyntaxNode, { type: 'ObjectExpression' }>, text: string): Place[] => {
  const items = node.properties.filter((each) => each.type === 'Property' && each.shorthand)
  const names = items.map(({ start, end }) => text.slice(start, end))
  return items.flatMap((item, index) => {
    const name = names[index] ?? ''
    const other = siblingOf(names, name)
    return other === undefined ? [] : replace('name', item, `${name}: ${other}`)
  })
}

/** The properties, elements or arguments of a node. */
export const itemsOf = (node: SyntaxNode): readonly (SyntaxNode | null)[] => {
  switch (node.type) {
    case 'ObjectExpression':
    case 'ObjectPattern':
      return node.properties
    case 'ArrayExpression':
      return node.elements
    case 'CallExpression':
    case 'NewExpression':
      return node.arguments
    default:
      return []
  }
}

/**
 * Changes of objects, arrays and calls: an item removed (the first argument of a call never), or a name exchanged for
 * another one of the list whose name ends in the same unit.
 */
export const listChanges = (node: SyntaxNode, text: string): Place[] => {
  const removed = (kind: ChangeKind, items: readonly (Range | null)[]) =>
    items.flatMap((item) => (item === null ? [] : replace(kind, withComma(text, item), '')))
  switch (node.type) {
    case 'ObjectExpression': {
      const values = node.properties.flatMap((each) => (each.type === 'Property' && !each.shorthand ? each.value : []))
      return [...removed('property', node.properties), ...exchangedShorthands(node, text), ...exchanged(values, text)]
    }
    case 'ArrayExpression':
      return removed('entry', node.elements)
    case 'CallExpression':
    case 'NewExpression':
      return [...removed('argument', node.arguments.slice(1).slice(-1)), ...exchanged(node.arguments, text)]
    default:
      return []
  }
}
