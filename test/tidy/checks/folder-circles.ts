import { dirname } from 'node:path/posix'
import { targetOf } from '#test/tidy/place.ts'
import type { Finding, SourceFile } from '#test/tidy/source.ts'
import { findingOn, importsOf } from '#test/tidy/syntax.ts'

/** Folders of `services/` import each other in one direction, so that each can be read after those that it imports. */
export const folderCircles = (files: readonly SourceFile[]): Finding[] => {
  const imports = files
    .filter(({ path }) => path.startsWith('services/'))
    .flatMap((file) =>
      importsOf(file).flatMap(({ specifier, node }) => {
        const [from, to] = [dirname(file.path), dirname(targetOf(file.path, specifier) ?? file.path)]
        return from === to ? [] : [{ from, to, finding: findingOn(file, node, 'folder-circles', messageOf(to)) }]
      }),
    )
  return onCircles(imports).map(({ finding }) => finding)
}

const messageOf = (to: string) =>
  `${to} imports this folder too, perhaps by way of others: move what both need into a folder of its own`

/** Removes the edges into folders that import none of the others, and from those that none imports, until there are none. */
const onCircles = <Edge extends { readonly from: string; readonly to: string }>(
  edges: readonly Edge[],
): readonly Edge[] => {
  const [importing, imported] = [new Set(edges.map(({ from }) => from)), new Set(edges.map(({ to }) => to))]
  const left = edges.filter(({ from, to }) => importing.has(to) && imported.has(from))
  return left.length === edges.length ? left : onCircles(left)
}
