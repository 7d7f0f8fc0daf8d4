import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type NamedTest, namedTests } from '#test/helpers/contract-points.ts'
import { root } from '#test/tidy/source.ts'
import { parse } from '#test/tidy/syntax.ts'
import { findEdit, targetOf } from './find-edit.ts'
import { mutatedFile, guardOf, type Mutation } from './mutation.ts'
import { mutations } from './mutations.ts'
import { inSandboxes, runTestFile, type Sandbox } from './sandbox.ts'
import { applyEdit } from './seeded/change.ts'

const readTests = async (): Promise<NamedTest[]> => {
  const paths = await Array.fromAsync(glob('test/{unit,integration}/**/*.test.ts', { cwd: root }))
  return namedTests(
    await Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') }))),
  )
}

const oneLine = (text: string) => text.trim().replaceAll(/\s+/g, ' ').slice(0, 60)
const literally = (text: string) => text.replaceAll(/[$()*+.?[\\\]^{|}/]/g, '\\$&')

/** Runs the tests of a file with the given titles, or all if empty; returns the failed titles and whether the run passed. */
const runTests = async (sandbox: Sandbox, path: string, titles: readonly string[]) => {
  const grep = titles.length === 0 ? '' : `/^(${titles.map(literally).join('|')})$/`
  const { passed, output } = await runTestFile(sandbox, path, grep)
  const failed = [...output.matchAll(/^not ok \d+ - (.+?)(?: # .*)?$/gm)].map(([, title = '']) => title)
  return { failed: failed.filter((title) => titles.length === 0 || titles.includes(title)), passed }
}

const byFile = (tests: readonly NamedTest[]): [string, string[]][] =>
  [...new Set(tests.map(({ path }) => path))].map((path) => [
    path,
    tests.filter((test) => test.path === path).map(({ title }) => title),
  ])

/** Whether tests pass without a mutation; memoized. */
const createPasses = () => {
  const known = new Map<string, Promise<{ passed: boolean }>>()
  return async (sandbox: Sandbox, file: string, titles: readonly string[]): Promise<boolean> => {
    const name = JSON.stringify([file, titles])
    const run = known.get(name) ?? runTests(sandbox, file, titles)
    known.set(name, run)
    return (await run).passed
  }
}
const passes = createPasses()

/** The tests that must fail with a mutation: files with test titles; no titles means all. */
const guardsOf = (mutation: Mutation, tests: readonly NamedTest[]): [string, string[]][] =>
  'test' in mutation ? [[mutation.test, []]] : byFile(tests.filter(({ point }) => point === mutation.point))

/** Applies a mutation and returns the title of the test that fails, or what is wrong. */
const tryMutation = async (sandbox: Sandbox, mutation: Mutation, tests: readonly NamedTest[]) => {
  const path = join(sandbox.folder, mutatedFile(mutation))
  const text = await readFile(path, 'utf8')
  const mutated = applyEdit(text, findEdit({ path: mutatedFile(mutation), text }, mutation))
  if (path.endsWith('.ts')) parse({ path, text: mutated })
  for (const [file, titles] of guardsOf(mutation, tests)) {
    await writeFile(path, mutated)
    const { failed } = await runTests(sandbox, file, titles)
    await writeFile(path, text)
    if (failed[0] === undefined) continue
    if (!(await passes(sandbox, file, titles))) return { caught: false, reason: `${file} fails without it` }
    return { caught: true, reason: `${file}: ${failed[0]}` }
  }
  return { caught: false, reason: 'no test fails' }
}

/** Runs the recorded mutations whose point, test or file contains `wanted`; returns whether all of them are caught. */
export const runRecorded = async (wanted: string): Promise<boolean> => {
  const chosen = mutations.filter((each) => guardOf(each).includes(wanted) || each.at.includes(wanted))
  const tests = await readTests()
  let missed = 0
  await inSandboxes(chosen, async (sandbox, mutation) => {
    const { caught, reason } = await tryMutation(sandbox, mutation, tests)
    if (!caught) missed += 1
    const fault = `${mutation.at}: ${oneLine(targetOf(mutation))}`
    console.log(`${caught ? 'caught' : 'MISSED'}  ${guardOf(mutation)}  (${fault})\n        ${reason}`)
  })
  console.log(`${chosen.length - missed} of ${chosen.length} mutations caught`)
  return missed === 0 && chosen.length > 0
}
