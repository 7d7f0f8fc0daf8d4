import { posix } from 'node:path'
import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

/** Files that pages name in code, and links to files; URLs and anchors are not checked. */
const patterns = [
  /`((?:services|test|scripts|tools|docs|bin)\/[\w./-]+\.(?:ts|sql|sh|md))`/g,
  /\]\((?!https?:|#)([^)\s#]+)[^)]*\)/g,
]

/** Every file that a Markdown page names or links to exists; `exists` takes a path from the repository's root. */
export const docPaths = (files: readonly SourceFile[], exists: (path: string) => boolean): Finding[] =>
  files.flatMap((file) => {
    const [named, linked] = patterns.map((pattern) => [...file.text.matchAll(pattern)])
    const targets = [
      ...(named ?? []).map((match) => ({ match, path: match[1] ?? '' })),
      ...(linked ?? []).map((match) => ({ match, path: posix.join(posix.dirname(file.path), match[1] ?? '') })),
    ]
    return targets.flatMap(({ match, path }) =>
      exists(path) ? [] : [findingAt(file, match.index, 'doc-paths', `${path} does not exist`)],
    )
  })
