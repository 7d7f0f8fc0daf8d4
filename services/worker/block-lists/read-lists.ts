import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '#shared/errors/app-error.ts'
import { listKinds, type ListVersion } from './compiled.ts'

const listsMax = 100
const bytesMax = 64 * 2 ** 20
/** Lists name their version in their first lines. */
const headLines = 30
const headNames = ['! Version:', '! Last modified:']

const own = join(import.meta.dirname, 'own')
const compiler = join(import.meta.dirname, 'compile-lists.ts')

/** A filter list in the syntax of EasyList; `modifiedMs`: when its file was last written, in milliseconds since 1970. */
export type FilterList = ListVersion & { readonly text: string; readonly modifiedMs: number }

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const versionOf = (text: string): string => {
  const head = text.split('\n', headLines)
  const found = headNames.flatMap((name) => head.filter((line) => line.startsWith(name)))[0]
  const said = found?.slice(found.indexOf(':') + 1).trim()
  // Packages of lists leave the place of a time unfilled.
  return said && !said.includes('%') ? said.slice(0, 60) : sha256(text).slice(0, 12)
}

const refuse = (folder: string, why: string): AppError => {
  const message = `SHUTTERFLEET_WORKER_BLOCK_LISTS = ${folder}, ${why}: it holds folders named ${listKinds.join(', ')} with lists of the syntax of EasyList, named *.txt`
  return new AppError('CONFIGURATION', { message, publicMessage: message })
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder)).toSorted()

/** The lists of an operator's folder. Throws `CONFIGURATION` where there is none, or too much. */
const readFolder = async (folder: string): Promise<FilterList[]> => {
  const kinds = await namesIn(folder).catch(() => Promise.reject(refuse(folder, 'which cannot be read')))
  const lists: FilterList[] = []
  let bytes = 0
  for (const kind of listKinds.filter((each) => kinds.includes(each))) {
    for (const name of (await namesIn(join(folder, kind))).filter((each) => each.endsWith('.txt'))) {
      const path = join(folder, kind, name)
      const { size, mtimeMs: modifiedMs } = await stat(path)
      bytes += size
      if (bytes > bytesMax || lists.length === listsMax)
        throw refuse(folder, `which holds more than ${listsMax} lists or ${bytesMax} bytes`)
      const text = await readFile(path, 'utf8')
      lists.push({ kind, name, version: versionOf(text), text, modifiedMs })
    }
  }
  if (lists.length === 0) throw refuse(folder, 'which holds no list')
  return lists
}

/** Reads the lists of this repository and those of an operator's folder; '' for none. Throws `CONFIGURATION` where that folder is not as it must be. */
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

/** Where the rules of autoconsent stand, their version, and when they were installed. */
export const consentRules = (): Pick<FilterList, 'version' | 'modifiedMs'> & { readonly file: string } => {
  const file = fileURLToPath(import.meta.resolve('@duckduckgo/autoconsent/rules/rules.json'))
  return { file, version: packageVersion(join(file, '../../package.json')), modifiedMs: statSync(file).mtimeMs }
}

/** Hash of the lists, of the compiler and of the consent rules that are compiled with them. */
export const keyOf = (lists: readonly FilterList[]): string => {
  const engine = packageVersion(fileURLToPath(import.meta.resolve('@ghostery/adblocker/package.json')))
  const code = sha256(readFileSync(compiler, 'utf8'))
  const parts = lists.map(({ kind, name, text }) => [kind, name, sha256(text)])
  return sha256(JSON.stringify([code, engine, consentRules().version, parts])).slice(0, 24)
}
