import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

/** Every `test/unit/<path>.test.ts` has a `services/<path>.ts`, so that each can be found from the other. */
export const mirror = (files: readonly SourceFile[]): Finding[] => {
  const paths = new Set(files.map(({ path }) => path))
  return files.flatMap((file) => {
    const tested = /^test\/unit\/(.+)\.test(\.tsx?)$/.exec(file.path)
    if (!tested) return []
    const source = `services/${tested[1]}${tested[2]}`
    return paths.has(source) ? [] : [findingAt(file, 0, 'mirror', `${source} does not exist`)]
  })
}
