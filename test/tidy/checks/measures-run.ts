import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

/** Run by `make bench-nodes` alone: its images and nodes take longer to build than all other tests. */
const notRun = new Set(['measureNodes'])

/** Each function of the benchmarks that measures is called by a test, in its smallest form. */
export const measuresRun = (files: readonly SourceFile[]): Finding[] => {
  const tests = files.filter(({ path }) => /^test\/lab\/.*\.test\.ts$/.test(path))
  return files
    .filter(({ path }) => path.startsWith('test/bench/'))
    .flatMap((file) =>
      [...file.text.matchAll(/^export const (measure\w*)/gm)].flatMap((match) => {
        const name = match[1] ?? ''
        const isCalled = notRun.has(name) || tests.some(({ text }) => new RegExp(`\\b${name}\\(`).test(text))
        return isCalled ? [] : [findingAt(file, match.index, 'measures-run', `no test calls ${name}`)]
      }),
    )
}
