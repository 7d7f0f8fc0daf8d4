// Prints the arguments of scripts/run-tests.sh for tap, a line each: folders whose files may share a process (ADR 47) become
// files that run them in batches, written into the folder that is the first argument.
import { globSync, statSync, writeFileSync } from 'node:fs'
import { join, normalize, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Number of processes for the tests of a folder. */
const batches: Readonly<Record<string, number>> = { 'test/tidy': 1, 'test/unit': 4, 'test/integration': 24 }
/** What `make test` runs; `make check` runs the tidy rules, and the linters and formatter on the tree. */
const all = ['test/tidy/tools', 'test/unit', 'test/integration']

const [target = '', ...given] = process.argv.slice(2)
const options = given.filter((word) => word.startsWith('-'))
const operands = given.filter((word) => !word.startsWith('-'))

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Distributes the files in turns, because slow files are often in the same folder. The last batch gets about a third of the first
 * one's: none starts long before the end.
 */
const deal = (paths: readonly string[], count: number): string[][] => {
  const dealt = Array.from({ length: Math.min(count, paths.length) }, (_, index) => ({
    batch: [] as string[],
    size: 3 * count - 2 * index,
  }))
  const share = ({ batch, size }: (typeof dealt)[number]) => (batch.length + 1) / size
  for (const path of paths) dealt.toSorted((a, b) => share(a) - share(b))[0]?.batch.push(path)
  return dealt.map(({ batch }) => batch).filter((batch) => batch.length > 0)
}

const inBatches = (operand: string): string[] => {
  const folder = normalize(`${operand}/`).slice(0, -1)
  const name = Object.keys(batches).find((each) => folder === each || folder.startsWith(`${each}/`))
  if (name === undefined || !isFolder(folder)) return [operand]
  const paths = globSync(`${folder}/**/*.test.ts`).toSorted()
  return deal(paths, batches[name] ?? 1).map((batch, index) => {
    const file = join(target, `${folder.replaceAll('/', '-')}-${index + 1}.ts`)
    const { href } = new URL('run-batch.ts', import.meta.url)
    const loads = batch.map((path) => `  '${path}': () => import('${pathToFileURL(resolve(path)).href}'),\n`)
    writeFileSync(file, `import { runBatch } from '${href}'\nawait runBatch({\n${loads.join('')}})\n`)
    return file
  })
}

for (const word of [...options, ...(operands.length === 0 ? all : operands).flatMap(inBatches)]) console.log(word)
