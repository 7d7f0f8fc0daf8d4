import type { SourceFile } from '#test/tidy/source.ts'
import { nodesIn, type SyntaxNode } from '#test/tidy/syntax.ts'
import type { Change } from './change.ts'

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

/** Single-place changes of a TypeScript file: operators, numbers, conditions, and removed waits. */
export const codeChanges = (file: SourceFile): Change[] =>
  nodesIn(file).flatMap((node) => changesAt(file, node).map((change) => ({ file: file.path, ...change })))

type Place = Omit<Change, 'file'>

const replace = (kind: Place['kind'], { start, end }: { start: number; end: number }, text: string): Place => ({
  kind,
  start,
  end,
  text,
})

const changesAt = (file: SourceFile, node: SyntaxNode): Place[] => {
  const textOf = ({ start, end }: { start: number; end: number }) => file.text.slice(start, end)
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const other = operators[node.operator]
      // String concatenation has no alternative operator.
      if (other === undefined || /^['"`]/.test(textOf(node.left))) return []
      const between = { start: node.left.end, end: node.right.start }
      return [replace('operator', between, textOf(between).replace(node.operator, other))]
    }
    case 'Literal':
      return typeof node.value === 'number' && node.value > 1 ? [replace('bound', node, `${node.value * 2}`)] : []
    case 'IfStatement':
    case 'ConditionalExpression':
      return ['true', 'false'].map((value) => replace('condition', node.test, value))
    case 'ExpressionStatement':
      return node.expression.type === 'AwaitExpression'
        ? [replace('await', node, `void ${textOf(node.expression.argument)}`)]
        : []
    default:
      return []
  }
}
