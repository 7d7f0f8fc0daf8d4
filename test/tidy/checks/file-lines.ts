import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

const linesMax = 400

/** No file of code, SQL and styles included, is longer than 400 lines. */
export const fileLines = (files: readonly SourceFile[]): Finding[] =>
  files
    .filter(({ path }) => /\.(ts|tsx|mjs|js|sql|css|sh)$/.test(path))
    .map((file) => ({ file, lines: file.text.replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > linesMax)
    .map(({ file, lines }) => findingAt(file, file.text.length, 'file-lines', `${lines} lines, at most ${linesMax}`))
