import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

const root = resolve(import.meta.dirname, '../..')
const firstViewBytes = 150 * 1024

type Manifest = {
  readonly sources: string
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly brotliBytes: number }[]
}

const folder = join(await mkdtemp(join(tmpdir(), 'shutterfleet-console-')), 'built')
t.teardown(() => rm(join(folder, '..'), { recursive: true }))
const build = () => execFileSync(process.execPath, ['tools/console/build.ts', folder], { cwd: root, encoding: 'utf8' })
build()
const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest
const page = await readFile(join(folder, 'index.html'), 'utf8')

/** Files that a script imports before it runs, and these in turn. */
const importedBy = async (path: string, found = new Set<string>()): Promise<Set<string>> => {
  if (found.has(path)) return found
  found.add(path)
  const script = await readFile(join(folder, path), 'utf8')
  for (const [, name = ''] of script.matchAll(/(?:from|import)"\/console\/([^"]+)"/g)) await importedBy(name, found)
  return found
}

t.test('console: its first view is below 150 KiB compressed', async (t) => {
  const named = [...page.matchAll(/(?:href|src)="\/console\/([^"]+)"/g)].map(([, path = '']) => path)
  const main = named.find((path) => path.startsWith('assets/main-')) ?? ''
  const overview = manifest.files.find(({ path }) => path.startsWith('assets/overview-'))?.path ?? ''
  const first = new Set([...named, ...(await importedBy(main)), ...(await importedBy(overview))])
  const files = manifest.files.filter(({ path }) => first.has(path))
  t.equal(files.length, first.size, 'the manifest has each of them')
  const bytes = files.reduce((sum, { brotliBytes }) => sum + brotliBytes, 0)
  t.comment(`${(bytes / 1024).toFixed(1)} KiB in ${files.length} files`)
  t.ok(bytes > 10_000 && bytes < firstViewBytes, `${bytes}`)
  t.notOk(
    [...first].some((path) => path.startsWith('assets/playground-')),
    'other views are loaded later',
  )
})

t.test('console: every asset has a hash in its name, and is compressed beside itself', async (t) => {
  for (const { path, bytes } of manifest.files) {
    if (path !== 'index.html') t.match(path, /^assets\/[a-z-]+-[A-Z0-9]{8}\.(js|css|svg)$/)
    const content = await readFile(join(folder, path))
    t.equal(content.length, bytes)
    t.ok(content.equals(brotliDecompressSync(await readFile(join(folder, `${path}.br`)))), `${path}.br`)
    t.ok(content.equals(gunzipSync(await readFile(join(folder, `${path}.gz`)))), `${path}.gz`)
  }
})

t.test('console: the page has no inline script or style, and names nothing elsewhere', async (t) => {
  t.notMatch(page, /<script(?![^>]* src=)|<style| style=| on\w+=/)
  t.notMatch(page, /(?:href|src)="(?!\/console\/)/)
})

t.test('console: is not built again from the same sources', async (t) => {
  const built = async () => (await stat(join(folder, 'manifest.json'))).ino
  const before = await built()
  t.equal(build(), '')
  t.equal(await built(), before)
})
