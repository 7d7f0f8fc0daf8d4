import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { resolve } from 'node:path'

const page = resolve(import.meta.dirname, '../../docs/benchmarks.md')

/** The parts of docs/benchmarks.md, in their order; each is made by a command of its own. */
const parts = [
  'one machine',
  'engine',
  'lasting',
  'telemetry',
  'http',
  'before the key',
  'kubernetes',
  'nodes',
] as const

/** See `parts`. */
export type Part = (typeof parts)[number]

const beginOf = (part: string) => `<!-- ${part} -->\n`

/** Puts `text` in the place of one part of docs/benchmarks.md; the other parts stay. */
export const writePart = (part: Part, text: string): void => {
  const before = readFileSync(page, 'utf8')
  const from = before.indexOf(beginOf(part))
  const next = parts[parts.indexOf(part) + 1]
  const end = next === undefined ? before.length : before.indexOf(beginOf(next))
  if (from < 0 || end < 0) throw new Error(`docs/benchmarks.md has no part "${part}"`)
  writeFileSync(
    page,
    `${before.slice(0, from)}${beginOf(part)}\n${text.trim()}\n${next === undefined ? '' : '\n'}${before.slice(end)}`,
  )
}

/** A table in Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** What a measurement was made on. */
export const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`

/** Milliseconds, rounded. */
export const ms = (value: number): string => Math.round(value).toString()

/** Bytes as MiB, rounded. */
export const mib = (bytes: number): string => Math.round(bytes / 2 ** 20).toString()
