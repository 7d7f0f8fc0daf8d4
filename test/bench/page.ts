import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { scalingPage } from '#tools/docs/scaling-page.ts'

const root = resolve(import.meta.dirname, '../..')
const benchmarks = 'docs/benchmarks.md'
const scaling = 'docs/scaling.md'

/** Puts `text` below the heading of a part, which lasts until the next; the other parts stay. Throws if there is no such part. */
export const replacePart = (before: string, heading: string, text: string): string => {
  const line = `\n## ${heading}\n`
  const from = before.indexOf(line)
  if (from < 0) throw new Error(`the page has no part "${heading}"`)
  const next = before.indexOf('\n## ', from + line.length - 1)
  const rest = next < 0 ? '' : before.slice(next)
  return `${before.slice(0, from)}${line}\n${text.trim()}\n${rest}`
}

/** Replaces one part of docs/benchmarks.md, with docs/scaling.md that is calculated from it, or of another page of the repository. */
export const writePart = (heading: string, text: string, page = benchmarks): void => {
  const path = resolve(root, page)
  const replaced = replacePart(readFileSync(path, 'utf8'), heading, text)
  writeFileSync(path, replaced)
  if (page === benchmarks) writeFileSync(resolve(root, scaling), scalingPage(replaced))
}

const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

const generated = [benchmarks, scaling, 'docs/simulations.md'].map((path) => `:!/${path}`)

/** The commit of the measured code; what other parts of the page changed does not count. */
const commit = (): string => {
  const changed = git('status', '--porcelain', '--', ':/', ...generated) !== ''
  return git('rev-parse', '--short', 'HEAD') + (changed ? ' with changes' : '')
}

/** What a part was made by, when, of which code and on what machine, with `more` programs. */
export const madeBy = (command: string, ...more: readonly string[]): string => {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`
  const context = [machine, `Node ${process.version}`, ...more].join(', ')
  return `Made by \`make ${command}\` on ${new Date().toISOString().slice(0, 10)} at ${commit()}: ${context}.`
}

/** Milliseconds, rounded. */
export const ms = (value: number): string => Math.round(value).toString()

/** Bytes as MiB, rounded. */
export const mib = (bytes: number): string => Math.round(bytes / 2 ** 20).toString()

/** A number with commas between its thousands, rounded. */
export const whole = (value: number): string => Math.round(value).toLocaleString('en-US')
