import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A text file of the tree; `path` is relative to the repository and written with slashes. */
export type SourceFile = { readonly path: string; readonly text: string }

/** A broken rule at a place; `line` counts from 1. */
export type Finding = {
  readonly path: string
  readonly line: number
  readonly rule: string
  readonly message: string
}

/** The repository of this file. */
export const root = join(import.meta.dirname, '../..')

/** Folders without files written by hand; `.git` of a work tree is a file. */
const generated = new Set(['node_modules', '.git', '.tools', '.tap', '.shutterfleet', 'dist'])
const fileBytesMax = 1_000_000

const filesRead = new Map<string, SourceFile | undefined>()

const readText = (path: string): SourceFile | undefined => {
  const bytes = readFileSync(join(root, path))
  return bytes.length <= fileBytesMax && !bytes.includes(0) ? { path, text: bytes.toString() } : undefined
}

/** Reads each file once, so that checks in one process can cache their results per file. */
const readOnce = (path: string): SourceFile | undefined => {
  if (!filesRead.has(path)) filesRead.set(path, readText(path))
  return filesRead.get(path)
}

/** Every text file under `folder` of the repository (`''` is all of it), sorted by path. A missing folder is empty. */
export const readTree = (folder: string): SourceFile[] => listFiles(folder).flatMap((path) => readOnce(path) ?? [])

const listFiles = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (generated.has(entry.name)) return []
    if (entry.isDirectory()) return listFiles(path)
    return entry.isFile() ? [path] : []
  })

/** Whether the file is TypeScript. */
const isTypeScript = (file: SourceFile): boolean => /\.tsx?$/.test(file.path)

/** All TypeScript of services, tests and tools: the input of most checks. */
export const readSources = (): SourceFile[] => ['services', 'test', 'tools'].flatMap(readTree).filter(isTypeScript)

/** A finding at the character offset of a file. */
export const findingAt = (file: SourceFile, offset: number, rule: string, message: string): Finding => ({
  path: file.path,
  line: file.text.slice(0, offset).split('\n').length,
  rule,
  message,
})

/** One line per finding, in the form that editors turn into a link. */
export const show = (findings: readonly Finding[]): string[] =>
  findings.map(({ path, line, rule, message }) => `${path}:${line} ${rule}: ${message}`)
