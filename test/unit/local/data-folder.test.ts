import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDataFolder, readPrivate, writePrivate } from '#local/data-folder.ts'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

t.test('data folder: creates a folder for its owner only, and restricts an open one', async (t) => {
  const path = join(t.testdir(), 'a', 'b')
  await openDataFolder(path)
  t.equal(modeOf(path), '700')
  chmodSync(path, 0o755)
  const { logs, nats, objects } = await openDataFolder(path)
  t.strictSame([path, logs, nats, objects].map(modeOf), ['700', '700', '700', '700'])
})

t.test('data folder: reports why a folder cannot be used', async (t) => {
  const root = t.testdir({ file: 'text' })
  const refused = (path: string, reason: RegExp) =>
    t.rejects(openDataFolder(path), { code: 'CONFIGURATION', message: reason })
  await refused(join(root, 'file'), /is not a folder.*--data/)
  await refused(join(root, 'file', 'below'), /is not a folder/)
  await refused('/proc/x/y', /cannot be made \(its folder does not exist, ENOENT\).*--data/)
})

t.test('data folder: a written file is for its owner only, and can be read back', async (t) => {
  const path = join(t.testdir(), 'x.json')
  t.equal(await readPrivate(path), undefined)
  await writePrivate(path, { a: 1 })
  t.equal(modeOf(path), '600')
  t.strictSame(await readPrivate(path), { a: 1 })
  writeFileSync(path, '{')
  await t.rejects(readPrivate(path), { message: /x\.json cannot be read/ })
})

t.test('data folder: keeps what is in the folder', async (t) => {
  const path = t.testdir()
  mkdirSync(join(path, 'objects'))
  writeFileSync(join(path, 'objects', 'image'), 'bytes')
  await openDataFolder(path)
  t.equal(statSync(join(path, 'objects', 'image')).size, 5)
})

t.test('data folder: a full disk is named when a file is written', async (t) => {
  const path = join(t.testdir(), 'x.json')
  // Every write to this device fails as on a full disk.
  symlinkSync('/dev/full', `${path}.${process.pid}.new`)
  const message = /^the disk of the data folder .* is full: free some space, or .*--data; 'df -h' shows/
  await t.rejects(writePrivate(path, { a: 1 }), { code: 'CONFIGURATION', message })
})

t.test('data folder: a file that cannot be written is named', async (t) => {
  const path = join(t.testdir(), 'missing', 'x.json')
  await t.rejects(writePrivate(path, {}), {
    code: 'CONFIGURATION',
    message: `${path} cannot be written (its folder does not exist, ENOENT)`,
  })
})
