import { execFile } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { compiledIndex, type CompiledLists } from './compiled.ts'
import { cacheKey, readLists } from './read-lists.ts'

/** Where `make setup` puts compiled lists, in a folder per key. */
export const readyLists = join(import.meta.dirname, '../../../.tools/block-lists')

/** EasyList and EasyPrivacy take less than a second on an idle core. */
const compileMs = 120_000

const program = join(import.meta.dirname, 'main-compile.ts')
const run = promisify(execFile)

/** Compiled lists, in a folder of this worker. */
export type BlockLists = Pick<CompiledLists, 'key' | 'lists'> & { readonly folder: string }

/**
 * Puts the compiled lists of this repository and of an operator's folder ('' for none) into `outputFolder`: copied from `precompiledFolder` if
 * it has the same lists, else compiled in a separate process, so that its 50 MB are freed. Throws `CONFIGURATION` if the
 * operator's folder is invalid.
 */
export const provideLists = async (
  operatorFolder: string,
  {
    outputFolder,
    precompiledFolder = readyLists,
  }: { readonly outputFolder: string; readonly precompiledFolder?: string },
): Promise<BlockLists> => {
  const key = cacheKey(await readLists(operatorFolder))
  const folder = join(outputFolder, key)
  try {
    await cp(join(precompiledFolder, key), folder, { recursive: true })
  } catch {
    await run(process.execPath, [program, operatorFolder, outputFolder], { timeout: compileMs })
  }
  const { lists } = JSON.parse(await readFile(join(folder, compiledIndex), 'utf8')) as CompiledLists
  return { key, lists, folder }
}
