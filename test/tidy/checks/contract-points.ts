import { namedTests, readPoints } from '#test/helpers/contract-points.ts'
import type { Finding, SourceFile } from '#test/tidy/source.ts'

const rule = 'contract-points'
const contractPath = 'docs/http-contract.md'

/** Points that cannot be tested yet, each with its parameters that no worker supports. */
export type Waiting = Readonly<Record<string, readonly string[]>>

/**
 * Every point of the contract is named by a test, or waits for parameters that are all still unavailable; a test names only
 * existing points, above a plain title.
 */
export const contractPoints = (
  files: readonly SourceFile[],
  waiting: Waiting,
  unavailable: ReadonlySet<string>,
): Finding[] => {
  const points = readPoints(files.find(({ path }) => path === contractPath)?.text ?? '')
  const tests = namedTests(files.filter(({ path }) => path.endsWith('.test.ts')))
  const named = new Set(tests.map(({ point }) => point))
  const at = (message: string): Finding => ({ path: contractPath, line: 1, rule, message })
  return [
    ...points.filter((point) => !named.has(point) && !waiting[point]).map((point) => at(`no test names "${point}"`)),
    ...Object.entries(waiting).flatMap(([point, names]) => [
      ...(points.includes(point) && !named.has(point)
        ? []
        : [at(`"${point}" does not wait: it is gone, or a test names it`)]),
      ...names
        .filter((name) => !unavailable.has(name))
        .map((name) => at(`"${point}" waits for ${name}, which is there`)),
    ]),
    ...tests
      .filter(({ point }) => !points.includes(point))
      .map(({ path, line, point }) => ({ path, line, rule, message: `the contract has no point "${point}"` })),
    ...tests
      .filter(({ title }) => title === '')
      .map(({ path, line }) => ({ path, line, rule, message: 'no test with a plain title below' })),
  ]
}
