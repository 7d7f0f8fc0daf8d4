import { isBuiltin } from 'node:module'
import { floor0, placeOf } from '#test/tidy/place.ts'
import type { Finding, SourceFile } from '#test/tidy/source.ts'
import { findingOn, importsOf, nodesIn, packageOf, type SyntaxNode } from '#test/tidy/syntax.ts'

const rule = 'purity'
/** Packages without I/O, clock or randomness. */
const purePackages = ['typebox', 'ajv', 'ipaddr.js', 'qs', 'css-selector-parser', 'tldts-experimental']
const impureObjects = ['process', 'performance', 'crypto', 'console', 'globalThis', 'Temporal']
const impureCalls = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch']
const impureMembers = ['Date.now', 'Math.random']

/** Floor 0 of shared has no I/O, clock or randomness: no built-in modules, no impure globals, only listed packages. */
export const purity = (files: readonly SourceFile[]): Finding[] =>
  files.filter(isFloor0).flatMap((file) => [
    ...importsOf(file)
      .filter(({ specifier }) => !isPureImport(specifier))
      .map(({ specifier, node }) => findingOn(file, node, rule, `floor 0 does not import ${specifier}`)),
    ...nodesIn(file).flatMap((node) => {
      const name = impureName(node)
      return name === undefined ? [] : [findingOn(file, node, rule, `floor 0 does not use ${name}`)]
    }),
  ])

const isFloor0 = ({ path }: SourceFile): boolean => {
  const place = placeOf(path)
  return place?.service === 'shared' && floor0.includes(place.folder)
}

const isPureImport = (specifier: string): boolean => {
  const name = packageOf(specifier)
  return !isBuiltin(specifier) && (name === undefined || purePackages.includes(name))
}

const impureName = (node: SyntaxNode): string | undefined => {
  if (node.type === 'MemberExpression' && node.object.type === 'Identifier') {
    const name = `${node.object.name}.${node.property.type === 'Identifier' ? node.property.name : ''}`
    return impureObjects.includes(node.object.name) || impureMembers.includes(name) ? name : undefined
  }
  if (node.type === 'NewExpression' || node.type === 'CallExpression') return impureCall(node)
  return undefined
}

const impureCall = (node: Extract<SyntaxNode, { callee: unknown; arguments: unknown[] }>): string | undefined => {
  if (node.callee.type !== 'Identifier') return undefined
  const { name } = node.callee
  if (name === 'Date' && (node.type === 'CallExpression' || node.arguments.length === 0)) return 'the present date'
  return impureCalls.includes(name) ? name : undefined
}
