import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { listKinds } from '#worker/block-lists/compiled.ts'
import { cacheKey, readLists } from '#worker/block-lists/read-lists.ts'

t.test('readLists: the bundled lists contain rules about hosts and elements only', async (t) => {
  const lists = await readLists('')
  t.strictSame(
    lists.map(({ kind, name }) => `${kind}/${name}`),
    ['cookies/shutterfleet', 'ads/shutterfleet', 'trackers/shutterfleet', 'chats/shutterfleet'],
  )
  for (const { kind, text, version } of lists) {
    const rules = text.split('\n').filter((line) => line !== '' && !line.startsWith('!'))
    t.ok(rules.length > 200, kind)
    t.match(version, /^[0-9a-f]{12}$/)
    for (const rule of rules) if (!/^(\|\|[a-z0-9.-]+\^|##.+)$/.test(rule)) t.fail(`${kind}: ${rule}`)
    t.equal(new Set(rules).size, rules.length, `${kind} has no rule twice`)
  }
})

t.test("readLists: the version of an operator's list is the one it declares, else a hash", async (t) => {
  const folder = t.testdir({
    ads: { 'a.txt': '[Adblock Plus 2.0]\n! Version: 202610310000\n||a.test^\n', 'notes.md': 'none' },
    cookies: { 'b.txt': '! Last modified: %timestamp%\n||b.test^\n' },
    other: { 'c.txt': '||c.test^' },
  })
  const lists = (await readLists(folder)).slice(listKinds.length)
  t.match(lists, [
    { kind: 'cookies', name: 'b.txt', version: /^[0-9a-f]{12}$/ },
    { kind: 'ads', name: 'a.txt', version: '202610310000' },
  ])
  t.equal(lists.length, 2)
})

t.test('readLists: rejects a missing folder, or one without lists, and names the setting', async (t) => {
  const empty = t.testdir({ ads: { 'readme.md': 'x' } })
  for (const folder of [empty, join(empty, 'missing')]) {
    await t.rejects(readLists(folder), { code: 'CONFIGURATION', message: /SHUTTERFLEET_WORKER_BLOCK_LISTS = / })
  }
})

t.test('readLists: rejects a folder of more than 64 MiB or 100 lists', async (t) => {
  const lists = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}.txt`, '||a.test^']))
  const folder = t.testdir({ ads: lists })
  t.equal((await readLists(folder)).length, 100 + listKinds.length)
  const refused = { code: 'CONFIGURATION', message: /more than 100 lists or 67108864 bytes/ }
  await truncate(join(folder, 'ads/0.txt'), 64 * 2 ** 20 + 1)
  await t.rejects(readLists(folder), refused)
  await writeFile(join(folder, 'ads/0.txt'), '')
  await writeFile(join(folder, 'ads/more.txt'), '')
  await t.rejects(readLists(folder), refused)
})

t.test('cacheKey: the key changes with the text, name or kind of a list', async (t) => {
  const folder = t.testdir({})
  const keys = new Set<string>()
  for (const [kind, name, text] of [
    ['ads', 'a.txt', '||a.test^'],
    ['ads', 'a.txt', '||b.test^'],
    ['ads', 'b.txt', '||b.test^'],
    ['chats', 'b.txt', '||b.test^'],
  ] as const) {
    const each = join(folder, String(keys.size))
    await mkdir(join(each, kind), { recursive: true })
    await writeFile(join(each, kind, name), text)
    keys.add(cacheKey(await readLists(each)))
  }
  keys.add(cacheKey(await readLists('')))
  t.equal(keys.size, 5)
  t.equal(cacheKey(await readLists('')), cacheKey(await readLists('')))
})
