import type { SourceFile } from '#test/tidy/source.ts'
import { nodesIn, type SyntaxNode } from '#test/tidy/syntax.ts'
import { type Change, type Place, type Range, replace } from './change.ts'
import { listChanges } from './list-changes.ts'
import { sqlChangesIn } from './sql-changes.ts'

const operators: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
}

/**
 * Single-place changes of a TypeScript file: other operators, numbers, conditions, names and jumps; removed waits, factors,
 * statements, properties, arguments and entries; changed SQL.
 */
export const codeChanges = (file: SourceFile): Change[] => {
  const textAt = ({ start, end }: Range) => file.text.slice(start, end)
  const nodes = nodesIn(file)
  const isInLoop = createIsInLoop(nodes)
  return nodes
    .flatMap((node) => [
      ...expressionChanges(node, textAt),
      ...statementChanges(node, textAt, isInLoop),
      ...listChanges(node, file.text),
      ...sqlTextChanges(node, file.text),
    ])
    .map((change) => ({ file: file.path, ...change }))
}

const isAboveOne = (node: SyntaxNode) => node.type === 'Literal' && typeof node.value === 'number' && node.value > 1

type Binary = Extract<SyntaxNode, { type: 'BinaryExpression' | 'LogicalExpression' }>

const operatorChanges = (node: Binary, textOf: (range: Range) => string): Place[] => {
  const other = operators[node.operator]
  // String concatenation has no alternative operator.
  if (other === undefined || /^['"`]/.test(textOf(node.left))) return []
  const between = { start: node.left.end, end: node.right.start }
  const changed = replace('operator', between, textOf(between).replace(node.operator, other))
  const isScaled = /^[*/]$/.test(node.operator) && isAboveOne(node.right)
  return isScaled ? [changed, replace('unit', node, textOf(node.left))] : [changed]
}

const expressionChanges = (node: SyntaxNode, textOf: (range: Range) => string): Place[] => {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return operatorChanges(node, textOf)
    case 'Literal':
      return isAboveOne(node) ? [replace('bound', node, `${Number(node.value) * 2}`)] : []
    case 'IfStatement':
    case 'ConditionalExpression':
      return ['true', 'false'].map((value) => replace('condition', node.test, value))
    case 'AssignmentExpression':
      return /^[+-]=$/.test(node.operator)
        ? [replace('assignment', { start: node.left.end, end: node.right.start }, ' = ')]
        : []
    default:
      return []
  }
}

const statementChanges = (
  node: SyntaxNode,
  textOf: (range: Range) => string,
  isInLoop: (node: SyntaxNode) => boolean,
): Place[] => {
  switch (node.type) {
    case 'ExpressionStatement': {
      // In place of a body, a semicolon is a statement too.
      const removed = replace('statement', node, ';')
      return node.expression.type === 'AwaitExpression'
        ? [removed, replace('await', node, `void ${textOf(node.expression.argument)}`)]
        : [removed]
    }
    case 'ContinueStatement':
      return [replace('jump', node, 'return')]
    case 'ReturnStatement':
      return node.argument === null && isInLoop(node) ? [replace('jump', node, 'continue')] : []
    default:
      return []
  }
}

const loops = new Set(['ForStatement', 'ForOfStatement', 'ForInStatement', 'WhileStatement', 'DoWhileStatement'])
const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/** Whether the innermost loop or function around a node is a loop. */
const createIsInLoop = (nodes: readonly SyntaxNode[]) => {
  const around = nodes.filter(({ type }) => loops.has(type) || functions.has(type))
  return ({ start, end }: Range): boolean => {
    // In source order the innermost is the last.
    const inner = around.findLast((each) => each.start <= start && end <= each.end)
    return inner !== undefined && loops.has(inner.type)
  }
}

const sqlStart = /^[`'"]\s*(?:select|insert|update|delete|with|explain)\b/i

const sqlTextChanges = (node: SyntaxNode, text: string): Place[] => {
  const isText = node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')
  if (!isText || !sqlStart.test(text.slice(node.start, node.end))) return []
  const parts: readonly Range[] = node.type === 'TemplateLiteral' ? node.quasis : [node]
  return parts.flatMap(({ start, end }) =>
    sqlChangesIn(text.slice(start, end)).map((change) => ({
      ...change,
      start: start + change.start,
      end: start + change.end,
    })),
  )
}
