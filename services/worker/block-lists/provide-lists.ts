import { execFile } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { compiledIndex, type CompiledLists } from './compiled.ts'
import { keyOf, readLists } from './read-lists.ts'

/** Where `make setup` puts compiled lists; what is there under another key was compiled from other lists. */
export const readyLists = join(import.meta.dirname, '../../../.tools/block-lists')

/** EasyList and EasyPrivacy take less than a second of an idle core. */
const compileMs = 120_000

const program = join(import.meta.dirname, 'main-compile.ts')
const run = promisify(execFile)

/** Compiled lists, in a folder of the worker's own. */
export type BlockLists = Pick<CompiledLists, 'key' | 'lists'> & { readonly folder: string }

/**
 * Provides the lists of this repository and of an operator's folder ('' for none) in `into`: compiled ahead where that was
 * done for just these lists, else compiled now, in a process of its own, whose 50 MB go with it. Throws `CONFIGURATION`
 * where the operator's folder is not as it must be.
 */
export const provideLists = async (
  operators: string,
  { into, ready = readyLists }: { readonly into: string; readonly ready?: string },
): Promise<BlockLists> => {
  const key = keyOf(await readLists(operators))
  const folder = join(into, key)
  try {
    await cp(join(ready, key), folder, { recursive: true })
  } catch {
    await run(process.execPath, [program, operators, into], { timeout: compileMs })
  }
  const { lists } = JSON.parse(await readFile(join(folder, compiledIndex), 'utf8')) as CompiledLists
  return { key, lists, folder }
}
