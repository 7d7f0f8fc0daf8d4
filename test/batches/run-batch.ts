import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'

/** Timeouts of a whole batch and of one of its files, for a busy machine. */
const batchMs = 1_800_000
const fileMs = 300_000

const tests = new Map<string, Test>()

/** The subtest of the test file with this URL. */
export const testOf = (url: string): Test | undefined => tests.get(url)

const scheme = 'tap-of:'
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'tap' && tests.has(context.parentURL ?? '')
      ? { url: `${scheme}${context.parentURL}`, shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) => {
    if (!url.startsWith(scheme)) return next(url, context)
    const [here, file] = [import.meta.url, url.slice(scheme.length)].map((each) => JSON.stringify(each))
    const source = `import { testOf } from ${here}\nexport default testOf(${file})`
    return { format: 'module', source, shortCircuit: true }
  },
})

/**
 * Runs test files, by path with their import function, one after another in this process. A file's `t` of tap is a subtest whose
 * teardown runs before the next file. Only for files without side effects on the process.
 */
export const runBatch = async (files: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> => {
  t.setTimeout(batchMs)
  for (const [path, load] of Object.entries(files)) {
    await t.test(path, { timeout: fileMs }, async (test) => {
      tests.set(pathToFileURL(resolve(path)).href, test)
      await load()
    })
  }
}
