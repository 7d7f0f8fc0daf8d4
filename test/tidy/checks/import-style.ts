import { isBuiltin } from 'node:module'
import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'
import { findingOn, importsOf, parse } from '#test/tidy/syntax.ts'

const rule = 'import-style'

/** Specifiers are explicit (no `..`, an extension, `node:`), and no file only re-exports. */
export const importStyle = (files: readonly SourceFile[]): Finding[] =>
  files.flatMap((file) => [
    ...importsOf(file).flatMap(({ specifier, node }) => {
      const fault = specifierFault(specifier)
      return fault === undefined ? [] : [findingOn(file, node, rule, `${specifier || 'import()'}: ${fault}`)]
    }),
    ...(/(^|\/)index\.tsx?$/.test(file.path) ? [findingAt(file, 0, rule, 'name the file after its main export')] : []),
    ...(isBarrel(file) ? [findingAt(file, 0, rule, 'a barrel: import from the files themselves')] : []),
  ])

const specifierFault = (specifier: string): string | undefined => {
  if (specifier === '') return 'name the module: no check can follow a computed import'
  if (specifier.split('/').includes('..')) return 'use a subpath import such as #shared/… instead of ..'
  // The client is JavaScript with separate types: Node strips no types in installed packages.
  const endings = specifier.startsWith('#client/') ? /\.js$/ : /\.(tsx?|json)$/
  if (/^[.#]/.test(specifier) && !endings.test(specifier)) return 'write the ending of the file'
  return isBuiltin(specifier) && !specifier.startsWith('node:') ? 'write node: before a built-in module' : undefined
}

const isBarrel = (file: SourceFile): boolean => {
  const statements = parse(file).program.body
  return (
    statements.some(({ type }) => type !== 'ImportDeclaration') &&
    statements.every(
      (statement) =>
        statement.type === 'ImportDeclaration' ||
        statement.type === 'ExportAllDeclaration' ||
        (statement.type === 'ExportNamedDeclaration' && !statement.declaration),
    )
  )
}
