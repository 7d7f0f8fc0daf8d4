import { execFile, execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { seeded } from '#test/helpers/seeded.ts'
import { readTree, root, type SourceFile } from '#test/tidy/source.ts'
import { createSandbox, inSandboxes, runTestFile, type Sandbox } from './sandbox.ts'
import { applyEdit, type Change } from './seeded/change.ts'
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

/** Draws changes in a random order, of each kind as many as of any other while there are more. */
const draw = function* (changes: readonly Change[], seed: number): Generator<Change> {
  const random = seeded(seed)
  const kinds = [...Map.groupBy(changes, ({ kind }) => kind).values()]
  while (kinds.some((left) => left.length > 0)) {
    for (const left of kinds) yield* left.splice(random(Math.max(1, left.length)), 1)
  }
}

/** Only what is compiled into services: a change of a type breaks there first. */
const compiled = {
  extends: './tsconfig.json',
  include: ['services'],
  compilerOptions: { incremental: true, tsBuildInfoFile: 'services.tsbuildinfo' },
}

const withChange = async <T>({ folder }: Sandbox, change: Change, work: () => Promise<T>): Promise<T> => {
  const path = join(folder, change.file)
  const source = await readFile(path, 'utf8')
  await writeFile(path, applyEdit(source, change))
  try {
    return await work()
  } finally {
    await writeFile(path, source)
  }
}

/** The first `count` of the changes that the compiler accepts: nobody would commit the others. */
const findCompiling = async (changes: Iterable<Change>, count: number): Promise<Change[]> => {
  await using sandbox = await createSandbox()
  const project = join(sandbox.folder, 'services.json')
  await writeFile(project, JSON.stringify(compiled))
  const compile = () =>
    promisify(execFile)(join(sandbox.folder, 'node_modules/.bin/tsc'), ['-p', project]).then(
      () => true,
      () => false,
    )
  const found: Change[] = []
  for (const change of changes) {
    if (found.length === count) break
    if (change.kind === 'sql' || (await withChange(sandbox, change, compile))) found.push(change)
  }
  return found
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
  for (const test of tests) {
    const { passed } = await withChange(sandbox, change, () => runTestFile(sandbox, test))
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
 * Makes `count` single-place changes that compile, one at a time, drawn by `seed` from the service files changed since
 * `since` (all without it), of each kind as many. Prints the test that catches each, or that none does; people judge whether an uncaught change matters.
 */
export const runSeeded = async (by: { since: string | undefined; count: number; seed: number }): Promise<void> => {
  const changes = await findCompiling(draw(chosenFiles(by.since).flatMap(changesOf), by.seed), by.count)
  const testsOf = findReachingTests(files.filter(({ path }) => /\.(?:ts|sql)$/.test(path)))
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
