import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'

/** The checkout that this file belongs to. */
export const ownTree: string = resolve(import.meta.dirname, '../../..')

const git = (...args: readonly string[]) => execFileSync('git', ['-C', ownTree, ...args], { encoding: 'utf8' }).trim()

/** The short hash of a commit. Throws where there is no such commit. */
export const commitOf = (revision: string): string => {
  try {
    return git('rev-parse', '--short', '--verify', '--quiet', `${revision}^{commit}`)
  } catch {
    throw new Error(`${revision} is no commit of this repository`)
  }
}

/** Makes a whole tree of a commit in a new folder: its own files, packages and tools. */
export const makeTree = (commit: string, folder: string): string => {
  mkdirSync(folder)
  const archive = `${folder}.tar`
  git('archive', '--output', archive, commit)
  execFileSync('tar', ['-xf', archive, '-C', folder])
  rmSync(archive)
  execFileSync('make', ['--silent', 'setup'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  return folder
}
