import { namedTests, readPoints } from '#test/helpers/contract-points.ts'
import type { Finding, SourceFile } from '#test/tidy/source.ts'

const rule = 'promised-tests'
const listPath = 'test/batches/promised.ts'
const contractPath = 'docs/http-contract.md'
const guaranteesPath = 'docs/guarantees.md'
/** Rows of the table of promises: the first column, and the last one, which has the tests. */
const promiseRow = /^\| (?!Promise|---)(.+?) \| .+ \| (.+?) \|$/gm

/** A promise, the document that gives it, and the tests that verify it. */
type Promised = { readonly path: string; readonly name: string; readonly tests: ReadonlySet<string> }

const readPromises = (files: readonly SourceFile[]): readonly Promised[] => {
  const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? ''
  const tests = namedTests(files.filter(({ path }) => /^test\/(?:unit|integration)\/.*\.test\.ts$/.test(path)))
  const section = textOf(guaranteesPath).split('\n## Promises\n')[1]?.split('\n## ')[0] ?? ''
  return [
    ...readPoints(textOf(contractPath)).map((name) => ({
      ...{ path: contractPath, name },
      tests: new Set(tests.filter(({ point }) => point === name).map(({ path }) => path)),
    })),
    ...[...section.matchAll(promiseRow)].map(([, name = '', named = '']) => ({
      ...{ path: guaranteesPath, name },
      tests: new Set([...named.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)),
    })),
  ]
}

/** `make test` verifies each promise, by a unit test or by an integration test that is listed, and lists none that it could leave out. */
export const promisedTests = (files: readonly SourceFile[], listed: readonly string[]): Finding[] => {
  const promises = readPromises(files)
  const isVerified = ({ tests }: Promised, without = '') =>
    [...tests].some((path) => path.startsWith('test/unit/') || (path !== without && listed.includes(path)))
  return [
    ...promises
      .filter((each) => !isVerified(each))
      .map(({ path, name }) => ({ path, line: 1, rule, message: `make test does not verify "${name}"` })),
    ...listed
      .filter((path) => promises.every((each) => isVerified(each, path) || !isVerified(each)))
      .map((path) => ({ path: listPath, line: 1, rule, message: `${path} verifies nothing that others do not` })),
  ]
}
