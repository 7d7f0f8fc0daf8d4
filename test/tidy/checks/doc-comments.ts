import type { Finding, SourceFile } from '#test/tidy/source.ts'
import { exportedNames, findingOn, parse } from '#test/tidy/syntax.ts'

/** Every name that a service file exports has a doc comment directly above its declaration. */
export const docComments = (files: readonly SourceFile[]): Finding[] =>
  files.filter(({ path }) => path.startsWith('services/')).flatMap(undocumented)

const undocumented = (file: SourceFile): Finding[] => {
  const { program, comments } = parse(file)
  const docEnds = new Set(
    comments.filter(({ type, value }) => type === 'Block' && /^\*[^]*\w/.test(value)).map(({ end }) => end),
  )
  const documented = new Set<string>()
  return program.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.source) return []
    const names = exportedNames(statement).filter((name) => !documented.has(name))
    for (const name of names) documented.add(name)
    const before = file.text.slice(0, statement.start).trimEnd().length
    if (docEnds.has(before) || names.length === 0) return []
    return [findingOn(file, statement, 'doc-comments', `${names.join(', ')} has no doc comment directly above it`)]
  })
}
