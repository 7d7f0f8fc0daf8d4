import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

/** Maximum of files that are opened to follow one capture. */
const filesMax = 60

/** A row of ARCHITECTURE.md's table of hops: its files, and how many of them are on the path; `–` for those beside it. */
const row = /^\| \d+ \|.*\| (?<count>\d+|–) \|$/gm

/** A capture is followed through at most 60 files, as counted in each row, and none of them twice. */
export const hopTable = (files: readonly SourceFile[]): Finding[] => {
  const file = files.find(({ path }) => path === 'ARCHITECTURE.md')
  if (!file) return []
  const findings: Finding[] = []
  const linked = new Set<string>()
  let counted = 0
  for (const match of file.text.matchAll(row)) {
    const report = (problem: string) => findings.push(findingAt(file, match.index, 'hop-table', problem))
    const paths = [...match[0].matchAll(/`(services\/[\w./-]+)`/g)].map(([, path = '']) => path)
    for (const path of paths) if (linked.has(path)) report(`${path} is opened twice`)
    for (const path of paths) linked.add(path)
    const count = match.groups?.['count'] ?? ''
    if (count === '–') continue
    if (Number(count) !== paths.length) report(`names ${paths.length} files, not ${count}`)
    counted += paths.length
    if (counted > filesMax) report(`${counted} files, more than ${filesMax}`)
  }
  return linked.size > 0 ? findings : [findingAt(file, 0, 'hop-table', 'has no table of hops')]
}
