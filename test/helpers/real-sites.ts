import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { moveUnlessPresent } from './move-unless-present.ts'

/** Files of a real web site from a distribution package. `page` is a path below `folder`. */
export type RealSite = { readonly name: string; readonly folder: string; readonly page: string }

const run = promisify(execFile)
const cache = resolve(import.meta.dirname, '../../.tools/real-sites')

/** Package name patterns, because names contain versions, and the documentation roots in the packages. */
const packages = [
  { name: 'python', pattern: '^python3\\.[0-9]+-doc$', page: 'tutorial/introduction.html' },
  { name: 'debian-handbook', pattern: '^debian-handbook$', page: 'en-US/index.html' },
  { name: 'apache', pattern: '^apache2-doc$', page: 'en/howto/auth.html' },
  { name: 'sqlite', pattern: '^sqlite3-doc$', page: 'lang_select.html' },
  { name: 'graphviz', pattern: '^graphviz-doc$', page: 'info/shapes.html' },
] as const

const unpack = async (pattern: string, folder: string) => {
  const { stdout } = await run('apt-cache', ['search', '--names-only', pattern])
  const name = stdout
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
    .filter(Boolean)
    .toSorted()
    .at(-1)
  if (!name) throw new Error(`no package matches ${pattern}; run: apt-get update`)
  await mkdir(cache, { recursive: true })
  const partial = await mkdtemp(join(cache, 'partial-'))
  await run('apt-get', ['download', '-q', name], { cwd: partial, timeout: 300_000 })
  const [archive = ''] = await readdir(partial)
  await run('dpkg', ['-x', join(partial, archive), join(partial, 'root')])
  await moveUnlessPresent(join(partial, 'root'), folder)
  await rm(partial, { recursive: true })
}

const rootOf = async (folder: string, page: string) => {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const candidate = join(entry.parentPath, entry.name)
    if (entry.isDirectory() && existsSync(join(candidate, page))) return candidate
  }
  throw new Error(`${folder} does not contain ${page}`)
}

/** Five real sites, downloaded once from the system's package source and cached in `.tools/real-sites`. Throws if it fails. */
export const realSites = (): Promise<RealSite[]> =>
  Promise.all(
    packages.map(async ({ name, pattern, page }) => {
      const folder = join(cache, name)
      if (!existsSync(folder)) await unpack(pattern, folder)
      return { name, folder: await rootOf(folder, page), page }
    }),
  )
