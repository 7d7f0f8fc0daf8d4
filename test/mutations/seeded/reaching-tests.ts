import { basename, dirname, join } from 'node:path/posix'
import { targetOf } from '#test/tidy/place.ts'
import type { SourceFile } from '#test/tidy/source.ts'
import { importsOf } from '#test/tidy/syntax.ts'

/** Most integration tests that are tried on one change. */
const integrationTestsMax = 6

/** Programs and SQL files that a file names in a text: it starts or reads them. */
const named =
  /services\/[\w/-]+\.ts|(?<=#)(?:gateway|ledger|worker|controller|egress|webhooks)\/main[\w-]*\.ts|sql\/[\w-]+\.sql/g
/** A program that a file names by its place beside itself: `'browser-host/main.ts'`. */
const beside = /(?<=['"`])(?:\.{1,2}\/)?[\w/-]+\.ts(?=['"`])/g
const wholeSystem = ['cli', 'gateway', 'ledger', 'worker', 'controller', 'egress', 'webhooks'].map(
  (service) => `services/${service}/main.ts`,
)

const edgesOf = (file: SourceFile): string[] => [
  ...importsOf(file).flatMap(({ specifier, typeOnly }) => (typeOnly ? [] : (targetOf(file.path, specifier) ?? []))),
  ...[...file.text.matchAll(named)].map(([name]) => {
    if (name.startsWith('sql/')) return `services/shared/db/${name}`
    return name.startsWith('services/') ? name : `services/${name}`
  }),
  ...[...file.text.matchAll(beside)].map(([name]) => join(dirname(file.path), name)),
  ...(file.path.startsWith('test/') && file.text.includes('bin/shutterfleet') ? wholeSystem : []),
]

const wordsOf = (path: string) => new Set(path.split(/[/.-]/))

/** How tests are found for a changed file. */
export type ReachingTests = (path: string) => {
  readonly unit: readonly string[]
  readonly integration: readonly string[]
}

/**
 * The tests that run a file, those that are likeliest to notice a change first. Unit tests: its mirror, then all that import
 * it themselves. Integration tests: those that reach it over any number of imports and started programs; the ones whose name
 * shares most words with the file's path, then those that reach least.
 */
export const findReachingTests = (files: readonly SourceFile[]): ReachingTests => {
  const edges = new Map(files.map((file) => [file.path, edgesOf(file)]))
  const reachOf = (from: string): Set<string> => {
    const reached = new Set([from])
    for (const path of reached) for (const next of edges.get(path) ?? []) reached.add(next)
    return reached
  }
  const tests = [...edges.keys()].filter((path) => path.endsWith('.test.ts'))
  const reach = new Map(
    tests.filter((path) => path.startsWith('test/integration/')).map((path) => [path, reachOf(path)]),
  )
  return (path) => {
    const mirror = path.replace(/^services\/(.+)\.ts$/, 'test/unit/$1.test.ts')
    const words = wordsOf(path)
    const common = (test: string) => [...wordsOf(basename(test))].filter((word) => words.has(word)).length
    const unit = tests.filter((test) => test.startsWith('test/unit/') && edges.get(test)?.includes(path))
    const integration = [...reach].filter(([, reached]) => reached.has(path))
    return {
      unit: unit.toSorted((a, b) => Number(b === mirror) - Number(a === mirror)),
      integration: integration
        .toSorted(([a, ofA], [b, ofB]) => common(b) - common(a) || ofA.size - ofB.size)
        .slice(0, integrationTestsMax)
        .map(([test]) => test),
    }
  }
}
