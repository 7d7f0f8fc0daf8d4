import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { compileLists } from '#worker/block-lists/compile-lists.ts'
import { provideLists } from '#worker/block-lists/provide-lists.ts'
import { readLists } from '#worker/block-lists/read-lists.ts'

t.test('provideLists: copies precompiled lists, and compiles others', async (t) => {
  const folder = t.testdir({ lists: { ads: { 'a.txt': '! Version: 7\n||operator.test^\n' } }, ready: {}, into: {} })
  const [operators, precompiledFolder] = [join(folder, 'lists'), join(folder, 'ready')]
  const precompiled = await compileLists(await readLists(operators), precompiledFolder)
  await writeFile(join(precompiled, 'marked'), '')
  const copied = await provideLists(operators, { outputFolder: join(folder, 'into'), precompiledFolder })
  t.ok(readdirSync(copied.folder).includes('marked'), 'copied')
  t.match(copied.lists, [
    { name: 'shutterfleet' },
    {},
    {},
    {},
    { kind: 'ads', name: 'a.txt', version: '7' },
    { name: 'autoconsent' },
  ])

  await writeFile(join(operators, 'ads/a.txt'), '! Version: 8\n||operator.test^\n')
  const compiled = await provideLists(operators, { outputFolder: join(folder, 'into'), precompiledFolder })
  t.not(compiled.key, copied.key, 'a stale result is not used')
  t.strictSame(readdirSync(compiled.folder).toSorted(), [
    'ads.bin',
    'chats.bin',
    'cookies.bin',
    'lists.json',
    'trackers.bin',
  ])
  t.match(JSON.parse(readFileSync(join(compiled.folder, 'lists.json'), 'utf8')), { lists: compiled.lists })
})

t.test('provideLists: a missing operator folder is a configuration error', async (t) => {
  const folder = t.testdir({})
  const into = join(folder, 'into')
  await t.rejects(provideLists(join(folder, 'none'), { outputFolder: into }), { code: 'CONFIGURATION' })
})
