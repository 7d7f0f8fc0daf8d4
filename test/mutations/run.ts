import { execFile } from 'node:child_process'
import { cp, glob, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NamedTest, namedTests } from '#test/helpers/contract-points.ts'
import type { Mutation } from './mutation.ts'
import { mutations } from './mutations.ts'

const root = join(import.meta.dirname, '../..')
const copied = ['bin', 'clients', 'crds', 'docs', 'k8s', 'scripts', 'services', 'test', 'package.json', 'tsconfig.json']
const linked = ['node_modules', '.tools']
const testMs = 120_000
const copies = 2

const [wanted = ''] = process.argv.slice(2)
const chosen = mutations.filter(({ point, file }) => point.includes(wanted) || file.includes(wanted))

const readTests = async (): Promise<NamedTest[]> => {
  const paths = await Array.fromAsync(glob('test/{unit,integration}/**/*.test.ts', { cwd: root }))
  return namedTests(
    await Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') }))),
  )
}

const literally = (text: string) => text.replaceAll(/[$()*+.?[\\\]^{|}/]/g, '\\$&')

/** Runs the tests of one file by their titles; answers the titles that failed, and whether the run as a whole passed. */
const runTests = (folder: string, path: string, titles: readonly string[]) =>
  new Promise<{ failed: string[]; passed: boolean }>((resolve) => {
    const grep = `--grep=/^(${titles.map(literally).join('|')})$/`
    const flags = ['--disable-coverage', '--reporter=tap', `--timeout=${testMs / 1000}`, grep, path]
    execFile(join(root, 'node_modules/.bin/tap'), flags, { cwd: folder, maxBuffer: 1 << 26 }, (error, out) => {
      const failed = titles.filter((title) =>
        new RegExp(`^ +not ok \\d+ - ${literally(title)}( # .*)?$`, 'm').test(out),
      )
      resolve({ failed, passed: error === null })
    })
  })

const makeCopy = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'mutations-'))
  for (const name of copied) await cp(join(root, name), join(folder, name), { recursive: true })
  for (const name of linked) await symlink(join(root, name), join(folder, name))
  return folder
}

const byFile = (tests: readonly NamedTest[]): [string, string[]][] =>
  [...new Set(tests.map(({ path }) => path))].map((path) => [
    path,
    tests.filter((test) => test.path === path).map(({ title }) => title),
  ])

/** Whether tests pass without a fault, found out once. */
const createPasses = () => {
  const known = new Map<string, Promise<{ passed: boolean }>>()
  return async (folder: string, file: string, titles: readonly string[]): Promise<boolean> => {
    const name = JSON.stringify([file, titles])
    const run = known.get(name) ?? runTests(folder, file, titles)
    known.set(name, run)
    return (await run).passed
  }
}
const passes = createPasses()

/** Says how the tests of its point take the mutation: by name which one fails, or what is wrong. */
const tryMutation = async (folder: string, mutation: Mutation, tests: readonly NamedTest[]) => {
  const path = join(folder, mutation.file)
  const text = await readFile(path, 'utf8')
  if (text.split(mutation.find).length !== 2)
    return { caught: false, why: 'what it replaces does not stand there once' }
  for (const [file, titles] of byFile(tests.filter(({ point }) => point === mutation.point))) {
    await writeFile(
      path,
      text.replace(mutation.find, () => mutation.replace),
    )
    const { failed } = await runTests(folder, file, titles)
    await writeFile(path, text)
    if (failed[0] === undefined) continue
    if (!(await passes(folder, file, titles))) return { caught: false, why: `${file} fails without it` }
    return { caught: true, why: `${file}: ${failed[0]}` }
  }
  return { caught: false, why: 'no test of the point fails' }
}

const tests = await readTests()
const left = [...chosen]
let missed = 0
const work = async () => {
  const folder = await makeCopy()
  try {
    for (let mutation = left.shift(); mutation; mutation = left.shift()) {
      const { caught, why } = await tryMutation(folder, mutation, tests)
      if (!caught) missed += 1
      console.log(`${caught ? 'caught' : 'MISSED'}  ${mutation.point}  (${mutation.file})\n        ${why}`)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}
await Promise.all(Array.from({ length: copies }, work))
console.log(`${chosen.length - missed} of ${chosen.length} mutations caught`)
process.exitCode = missed === 0 && chosen.length > 0 ? 0 : 1
