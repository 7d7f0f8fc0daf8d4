import { dirname, join } from 'node:path/posix'
import { serviceNames, services } from '#shared/config/services.ts'
import { targetOf } from '#test/tidy/place.ts'
import type { SourceFile } from '#test/tidy/source.ts'
import { importsOf } from '#test/tidy/syntax.ts'

/** Maximum number of tests per change. */
const unitTestsMax = 10
const integrationTestsMax = 6

/** What `make test` runs and can break by a fault in the code: tidy rules only read it. */
const isRun = (path: string) => /^test\/(?:unit|integration)\/.*\.test\.ts$/.test(path)

const folders = [...new Set([...serviceNames.map((name) => dirname(services[name].program)), 'worker'])]
/** Programs that a file names in a string literal, to start them. */
const named = new RegExp(String.raw`services/[\w/-]+\.ts|(?<=#)(?:${folders.join('|')})/main[\w-]*\.ts`, 'g')
/** A program that a service starts: `programPath('worker/main')`. */
const started = /(?<=[pP]rogramPath\(')[\w/-]+/g
/** A program that a file names by a relative path: `'browser-host/main.ts'`. */
const beside = /(?<=['"`])(?:\.{1,2}\/)?[\w/-]+\.ts(?=['"`])/g
/** The folder of a service, whose programs a helper starts. */
const folder = new RegExp(`services/(?:${folders.join('|')})(?=['"\`])`, 'g')
const wholeSystem = ['cli', ...folders].map((name) => `services/${name}/main.ts`)

/** Finds the SQL files that a file names, or whose function it calls. */
const createSqlEdges = (files: readonly SourceFile[]) => {
  const statements = files.flatMap(({ path }) => {
    const name = /([\w-]+)\.sql$/.exec(path)?.[1]
    return name === undefined ? [] : { path, named: new RegExp(`\\b(?:${name}\\.sql|${name.replaceAll('-', '_')}\\()`) }
  })
  return ({ text }: SourceFile) => statements.flatMap(({ path, named: pattern }) => (pattern.test(text) ? path : []))
}

const codeEdges = (file: SourceFile): string[] => [
  ...importsOf(file).flatMap(({ specifier, typeOnly }) => (typeOnly ? [] : (targetOf(file.path, specifier) ?? []))),
  ...[...file.text.matchAll(named)].map(([name]) => (name.startsWith('services/') ? name : `services/${name}`)),
  ...[...file.text.matchAll(started)].map(([name]) => `services/${name}.ts`),
  ...[...file.text.matchAll(beside)].map(([name]) => join(dirname(file.path), name)),
  ...[...file.text.matchAll(folder)].flatMap(([name]) => [`${name}/main.ts`, `${name}/main-job.ts`]),
  ...(file.path.startsWith('test/') && file.text.includes('bin/shutterfleet') ? wholeSystem : []),
]

const wordsOf = (path: string) => new Set(path.split(/[/.-]/))

/** Finds the tests for a changed file. */
export type ReachingTests = (path: string) => {
  readonly unit: readonly string[]
  readonly integration: readonly string[]
}

/**
 * The tests of `make test` that execute one of these TypeScript and SQL files, the likeliest to catch a change first: its
 * mirror and tests that import it directly, then tests that reach it through imports and started programs, ordered by the
 * number of words that the paths share, then by the fewest files reached.
 */
export const findReachingTests = (files: readonly SourceFile[]): ReachingTests => {
  const sqlEdges = createSqlEdges(files)
  const edges = new Map(
    files.map((file) => [file.path, [...(file.path.endsWith('.ts') ? codeEdges(file) : []), ...sqlEdges(file)]]),
  )
  const reachOf = (from: string): Set<string> => {
    const reached = new Set([from])
    for (const path of reached) for (const next of edges.get(path) ?? []) reached.add(next)
    return reached
  }
  const reach = [...edges.keys()]
    .filter(isRun)
    .map((test) => ({ test, isUnit: test.startsWith('test/unit/'), reached: reachOf(test) }))
  return (path) => {
    const mirror = path.replace(/^services\/(.+)\.ts$/, 'test/unit/$1.test.ts')
    const words = wordsOf(path)
    const common = (test: string) => [...wordsOf(test)].filter((word) => words.has(word)).length
    const nearness = (test: string) => (test === mirror ? 2 : edges.get(test)?.includes(path) ? 1 : 0)
    const reaching = reach
      .filter(({ reached }) => reached.has(path))
      .toSorted(
        ({ test: a, reached: ofA }, { test: b, reached: ofB }) =>
          nearness(b) - nearness(a) || common(b) - common(a) || ofA.size - ofB.size,
      )
    const first = (isUnit: boolean, most: number) =>
      reaching
        .filter((each) => each.isUnit === isUnit)
        .slice(0, most)
        .map(({ test }) => test)
    return { unit: first(true, unitTestsMax), integration: first(false, integrationTestsMax) }
  }
}
