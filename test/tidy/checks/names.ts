import { basename } from 'node:path/posix'
import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'
import { exportedNames, findingOn, parse } from '#test/tidy/syntax.ts'

const rule = 'names'
const empty = ['manager', 'helper', 'helpers', 'util', 'utils', 'data', 'info', 'service', 'handler']

/** Files and exported names do not end in a vague word, such as Manager or Utils. */
export const names = (files: readonly SourceFile[]): Finding[] =>
  files.flatMap((file) => {
    const fileName = basename(file.path).replace(/(\.test)?\.tsx?$/, '')
    return [
      ...(isEmptyName(fileName) ? [findingAt(file, 0, rule, `the file name ${fileName} ends in an empty word`)] : []),
      ...parse(file).program.body.flatMap((statement) =>
        statement.type === 'ExportNamedDeclaration'
          ? exportedNames(statement)
              .filter(isEmptyName)
              .map((name) => findingOn(file, statement, rule, `${name} ends in an empty word`))
          : [],
      ),
    ]
  })

const isEmptyName = (name: string): boolean =>
  empty.includes(
    name
      .split(/[-_.]|(?<=[a-z0-9])(?=[A-Z])/)
      .at(-1)
      ?.toLowerCase() ?? '',
  )
