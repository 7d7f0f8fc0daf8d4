import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

const page = 'docs/benchmarks.md'
/** Block comments and runs of line comments. */
const comments = /\/\*[\s\S]*?\*\/|(?:^[ \t]*(?:\/\/|#|--).*\n?)+/gm
const paragraphs = /(?:.+\n?)+/g
/** A figure, with the words of one that was measured. */
const figure = /\d ?(?:ms|s|MiB|MB|GiB|%|per second)(?![\w%])/
const measured = /\b(?:[Mm]easured|p50|p95|p99|[Mm]edian)\b/
/** The part that has a figure, or a decision that records how it was measured. */
const partOf = /benchmarks\.md\)?, "([^"]+)"/g
const record = /\bADR \d+/

/** Text as one line, without the marks of comments at the beginnings of lines. */
const joined = (text: string) => text.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/|#|--)?\s*/g, ' ')

const headingsOf = (files: readonly SourceFile[]): ReadonlySet<string> => {
  const text = files.find(({ path }) => path === page)?.text ?? ''
  return new Set([...text.matchAll(/^##+ (.*)$/gm)].map(([, heading = '']) => heading))
}

/** Whether a comment or a paragraph quotes what was measured; a paragraph also quotes settings, so it has to mention the page. */
const quotes = (file: SourceFile, text: string) =>
  figure.test(text) && (file.path.endsWith('.md') ? text.includes('benchmarks.md') : measured.test(text))

/**
 * Comments that quote a measured figure, and paragraphs of pages that quote one of docs/benchmarks.md, name the part that has it:
 * `docs/benchmarks.md, "Heading"`. Every part that is named exists. Decisions and the changelog are history.
 */
export const figures = (files: readonly SourceFile[]): Finding[] => {
  const headings = headingsOf(files)
  const checked = files.filter(({ path }) => path !== page && !/^docs\/adr\/|^CHANGELOG|^test\/tidy\//.test(path))
  return checked.flatMap((file) =>
    [...file.text.matchAll(file.path.endsWith('.md') ? paragraphs : comments)].flatMap((match) => {
      const text = joined(match[0])
      const named = [...text.matchAll(partOf)].map(([, heading = '']) => heading)
      const report = (problem: string) => findingAt(file, match.index, 'figures', problem)
      const isNamed = named.length > 0 || record.test(text)
      return [
        ...named.flatMap((name) => (headings.has(name) ? [] : [report(`${page} has no part "${name}"`)])),
        ...(quotes(file, text) && !isNamed ? [report(`a measured figure without (${page}, "its part")`)] : []),
      ]
    }),
  )
}
