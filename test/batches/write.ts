// Prints the arguments of scripts/run-tests.sh for tap, a line each: `promised`, `pages`, `others` (all further integration tests) and
// folders whose files may share a process become files that run them in batches, written into the folder that is the
// first argument.
import { globSync, statSync, writeFileSync } from 'node:fs'
import { join, normalize, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { besides, promised } from './promised.ts'

/** Number of processes for the tests of a folder. */
const folders: Readonly<Record<string, number>> = { 'test/tidy': 1, 'test/unit': 4, 'test/integration': 24 }
/** Test files, and the number of processes that run them. */
type Chosen = { readonly paths: readonly string[]; readonly count: number }
const quick = [...promised, ...besides]
/** Captures of pages of libraries, templates and real sites, which are compared with a bare browser's. */
const isOfPages = (path: string) => /^test\/integration\/(?:gallery-.*|real-sites)\.test\.ts$/.test(path)
const others = () => filesIn('test/integration').filter((path) => !quick.includes(path) && !isOfPages(path))
const named: Readonly<Record<string, () => Chosen>> = {
  promised: () => ({ paths: quick, count: 8 }),
  pages: () => ({ paths: filesIn('test/integration').filter(isOfPages), count: 3 }),
  others: () => ({ paths: others(), count: 18 }),
}
/** What `make test` runs; `make check` runs the tidy rules, and the linters and formatter on the tree. */
const usual = ['test/tidy/tools', 'test/unit', 'promised']

const [target = '', ...given] = process.argv.slice(2)
const options = given.filter((word) => word.startsWith('-'))
const operands = given.filter((word) => !word.startsWith('-'))

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
const filesIn = (folder: string) => globSync(`${folder}/**/*.test.ts`).toSorted()

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

/** What an operand stands for if its files share processes. */
const choose = (operand: string): Chosen | undefined => {
  const folder = normalize(`${operand}/`).slice(0, -1)
  const name = Object.keys(folders).find((each) => folder === each || folder.startsWith(`${each}/`))
  if (name === undefined || !isFolder(folder)) return named[operand]?.()
  return { paths: filesIn(folder), count: folders[name] ?? 1 }
}

const inBatches = (operand: string): string[] => {
  const chosen = choose(operand)
  if (!chosen) return [operand]
  return deal(chosen.paths, chosen.count).map((batch, index) => {
    const name = normalize(`${operand}/`).slice(0, -1).replaceAll('/', '-')
    // tap runs them in the order of their names.
    const file = join(target, `${name}-${String(index + 1).padStart(2, '0')}.ts`)
    const { href } = new URL('run-batch.ts', import.meta.url)
    const loads = batch.map((path) => `  '${path}': () => import('${pathToFileURL(resolve(path)).href}'),\n`)
    writeFileSync(file, `import { runBatch } from '${href}'\nawait runBatch({\n${loads.join('')}})\n`)
    return file
  })
}

for (const word of [...options, ...(operands.length === 0 ? usual : operands).flatMap(inBatches)]) console.log(word)
