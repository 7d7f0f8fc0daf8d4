import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { seeded } from '#test/helpers/seeded.ts'
import { readTree, root, type SourceFile } from '#test/tidy/source.ts'
import { inSandboxes, runTestFile, type Sandbox } from './sandbox.ts'
import { applyChange, type Change } from './seeded/change.ts'
import { codeChanges } from './seeded/code-changes.ts'
import { findReachingTests } from './seeded/reaching-tests.ts'
import { sqlChanges } from './seeded/sql-changes.ts'

const files = ['services', 'test'].flatMap(readTree)
const services = files.filter(({ path }) => path.startsWith('services/') && !path.includes('/migrations/'))

/** Service files changed since a revision; all service files without one. */
const chosenFiles = (since: string | undefined) => {
  if (since === undefined) return services
  const listed = execFileSync('git', ['diff', '--name-only', since], { cwd: root, encoding: 'utf8' })
  const changed = new Set(listed.split('\n'))
  return services.filter(({ path }) => changed.has(path))
}

const changesOf = (file: SourceFile): Change[] => {
  if (file.path.endsWith('.ts')) return codeChanges(file)
  return file.path.endsWith('.sql') ? sqlChanges(file) : []
}

const draw = (changes: readonly Change[], { count, seed }: { count: number; seed: number }): Change[] => {
  const random = seeded(seed)
  const left = [...changes]
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random(left.length), 1)).flat()
}

/** Whether a test passes on the unchanged code; memoized. */
const createPassesUnchanged = () => {
  const known = new Map<string, Promise<boolean>>()
  return (sandbox: Sandbox, test: string): Promise<boolean> => {
    const run = known.get(test) ?? runTestFile(sandbox, test).then(({ passed }) => passed)
    known.set(test, run)
    return run
  }
}
const passesUnchanged = createPassesUnchanged()

/** The first of `tests` that fails with the change and passes without it, if any. */
const findCatcher = async (sandbox: Sandbox, change: Change, tests: readonly string[]): Promise<string | undefined> => {
  const path = join(sandbox.folder, change.file)
  const source = await readFile(path, 'utf8')
  for (const test of tests) {
    await writeFile(path, applyChange(source, change))
    const { passed } = await runTestFile(sandbox, test)
    await writeFile(path, source)
    if (!passed && (await passesUnchanged(sandbox, test))) return test
  }
  return undefined
}

const oneLine = (text: string) => text.trim().replaceAll(/\s+/g, ' ').slice(0, 120)
const describe = (change: Change, source: string): string => {
  const line = source.slice(0, change.start).split('\n').length
  const before = oneLine(source.slice(change.start, change.end))
  return `${change.file}:${line}  ${change.kind}: ${before} -> ${oneLine(change.text)}`
}

/**
 * Makes `count` single-place changes, one at a time, drawn by `seed` from the service files changed since `since` (all
 * without it). Prints the test that catches each, or that none does; people judge whether an uncaught change matters.
 */
export const runSeeded = async (by: { since: string | undefined; count: number; seed: number }): Promise<void> => {
  const changes = draw(chosenFiles(by.since).flatMap(changesOf), by)
  const testsOf = findReachingTests(files.filter(({ path }) => path.endsWith('.ts')))
  const textOf = new Map(files.map(({ path, text }) => [path, text]))
  let caught = 0
  await inSandboxes(changes, async (sandbox, change) => {
    const { unit, integration } = testsOf(change.file)
    const catcher = await findCatcher(sandbox, change, [...unit, ...integration])
    const where = describe(change, textOf.get(change.file) ?? '')
    console.log(catcher === undefined ? `SURVIVED  ${where}` : `caught  ${where}\n        ${catcher}`)
    if (catcher !== undefined) caught += 1
  })
  console.log(`${caught} of ${changes.length} changes caught (seed ${by.seed})`)
}
