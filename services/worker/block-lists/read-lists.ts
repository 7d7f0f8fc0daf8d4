import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '#shared/errors/app-error.ts'
import { listKinds, type ListVersion } from './compiled.ts'

const listsMax = 100
const bytesMax = 64 * 2 ** 20
/** Number of first lines that may contain the version. */
const headLines = 30
const headNames = ['! Version:', '! Last modified:']

const own = join(import.meta.dirname, 'own')
const compiler = join(import.meta.dirname, 'compile-lists.ts')

/** A filter list in the syntax of EasyList; `modifiedMs`: last modification of its file, in milliseconds since 1970. */
export type FilterList = ListVersion & { readonly text: string; readonly modifiedMs: number }

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const parseVersion = (text: string): string => {
  const head = text.split('\n', headLines)
  const found = headNames.flatMap((name) => head.filter((line) => line.startsWith(name)))[0]
  const version = found?.slice(found.indexOf(':') + 1).trim()
  // Packaged lists may contain an unfilled placeholder such as `%timestamp%`.
  return version && !version.includes('%') ? version.slice(0, 60) : sha256(text).slice(0, 12)
}

const invalidFolder = (folder: string, reason: string): AppError => {
  const message = `SHUTTERFLEET_WORKER_BLOCK_LISTS = ${folder}, ${reason}: it holds folders named ${listKinds.join(', ')} with lists of the syntax of EasyList, named *.txt`
  return new AppError('CONFIGURATION', { message, publicMessage: message })
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder)).toSorted()

/** Reads the lists of an operator's folder. Throws `CONFIGURATION` if it has none or exceeds a bound. */
const readFolder = async (folder: string): Promise<FilterList[]> => {
  const kinds = await namesIn(folder).catch(() => Promise.reject(invalidFolder(folder, 'which cannot be read')))
  const lists: FilterList[] = []
  let bytes = 0
  for (const kind of listKinds.filter((each) => kinds.includes(each))) {
    for (const name of (await namesIn(join(folder, kind))).filter((each) => each.endsWith('.txt'))) {
      const path = join(folder, kind, name)
      const { size, mtimeMs: modifiedMs } = await stat(path)
      bytes += size
      if (bytes > bytesMax || lists.length === listsMax)
        throw invalidFolder(folder, `which holds more than ${listsMax} lists or ${bytesMax} bytes`)
      const text = await readFile(path, 'utf8')
      lists.push({ kind, name, version: parseVersion(text), text, modifiedMs })
    }
  }
  if (lists.length === 0) throw invalidFolder(folder, 'which holds no list')
  return lists
}

/** Reads the lists of this repository and of an operator's folder ('' for none). Throws `CONFIGURATION` if the folder is invalid. */
export const readLists = async (folder: string): Promise<readonly FilterList[]> => {
  const ours = listKinds.map((kind): FilterList => {
    const path = join(own, `${kind}.txt`)
    const text = readFileSync(path, 'utf8')
    const version = sha256(text).slice(0, 12)
    return { kind, name: 'shutterfleet', version, text, modifiedMs: statSync(path).mtimeMs }
  })
  return [...ours, ...(folder === '' ? [] : await readFolder(folder))]
}

const packageVersion = (file: string): string => {
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
  return version
}

/** The file of autoconsent's rules, their version, and when they were installed. */
export const consentRules = (): Pick<FilterList, 'version' | 'modifiedMs'> & { readonly file: string } => {
  const file = fileURLToPath(import.meta.resolve('@duckduckgo/autoconsent/rules/rules.json'))
  return { file, version: packageVersion(join(file, '../../package.json')), modifiedMs: statSync(file).mtimeMs }
}

/** Hash of the lists, of the compiler and of the consent rules, all of which determine the result. */
export const cacheKey = (lists: readonly FilterList[]): string => {
  const engine = packageVersion(fileURLToPath(import.meta.resolve('@ghostery/adblocker/package.json')))
  const code = sha256(readFileSync(compiler, 'utf8'))
  const parts = lists.map(({ kind, name, text }) => [kind, name, sha256(text)])
  return sha256(JSON.stringify([code, engine, consentRules().version, parts])).slice(0, 24)
}
