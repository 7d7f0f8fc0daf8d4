import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compileLists } from '#worker/block-lists/compile-lists.ts'
import type { CompiledLists } from '#worker/block-lists/compiled.ts'
import { readLists } from '#worker/block-lists/read-lists.ts'

const readIndex = (folder: string) => JSON.parse(readFileSync(join(folder, 'lists.json'), 'utf8')) as CompiledLists

t.test('compileLists: the bundled lists need no interception of requests', async (t) => {
  const { kinds } = readIndex(await compileLists(await readLists(''), t.testdir({})))
  for (const [name, { judgesRequests }] of Object.entries(kinds)) t.equal(judgesRequests, false, name)
})

t.test('compileLists: rules with paths, types, exceptions or sites need interception of requests', async (t) => {
  const own = await readLists('')
  const needs = async (text: string) => {
    const lists = [...own, { kind: 'ads', name: 'a', version: '1', modifiedMs: 0, text } as const]
    return readIndex(await compileLists(lists, t.testdir({}))).kinds.ads.judgesRequests
  }
  for (const rule of ['||a.test/ad/', '/banner.js', '||a.test^$script', '@@||a.test^', '||a.test^$domain=b.test'])
    t.equal(await needs(rule), true, rule)
  for (const rule of ['||a.test^', '||a.test^$third-party', 'b.test##.ad']) t.equal(await needs(rule), false, rule)
})

t.test('compileLists: concurrent compilations share one result, and leave no other files', async (t) => {
  const into = t.testdir({})
  const lists = await readLists('')
  const [one, other] = await Promise.all([compileLists(lists, into), compileLists(lists, into)])
  t.equal(one, other)
  t.equal(readdirSync(into).length, 1)
})
