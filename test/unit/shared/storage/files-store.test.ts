import { existsSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { finished } from 'node:stream/promises'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { createFilesStore } from '#shared/storage/files-store.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { eventually } from '#test/helpers/eventually.ts'

const id = '0d9f6c1e-0000-4000-8000-000000000001'

const make = (folder: string, sync?: (path: string) => Promise<void>) => {
  let now = new Date('2026-11-20T06:00:00Z')
  const store = createFilesStore({
    folder,
    filesUrl: 'http://127.0.0.1:1',
    signingKey: Buffer.alloc(32, 7).toString('base64'),
    now: () => now,
    ...(sync && { sync }),
  })
  return {
    store,
    key: newObjectKey(id, now),
    later: (seconds: number) => (now = new Date(now.getTime() + seconds * 1000)),
  }
}

const partsOf = (address: string) => {
  const url = new URL(address)
  const { expires = '', signature = '' } = Object.fromEntries(url.searchParams)
  return { key: url.pathname.replace('/objects/', ''), expires, signature }
}

t.test('files store: a signed address allows the PUT of its own key until it expires, and nothing else', async (t) => {
  const { store, key, later } = make(t.testdir({}))
  const { key: signedKey, ...query } = partsOf(await store.signPut(key, 60))
  t.equal(signedKey, key)
  t.ok(store.mayPut(key, query))
  t.notOk(store.mayPut(newObjectKey(id, new Date(0)), query), 'another key')
  t.notOk(store.mayPut(key, { ...query, expires: String(Number(query.expires) + 1) }), 'a later expiry')
  t.notOk(store.mayPut(key, { ...query, signature: query.signature.replace(/^./, (c) => (c === '0' ? '1' : '0')) }))
  t.notOk(store.mayPut(key, { expires: '', signature: '' }))
  later(60)
  t.notOk(store.mayPut(key, query), 'expired')
})

t.test('files store: reads a whole object at once, and closes its file', async (t) => {
  const { store, key } = make(t.testdir({}))
  const bytes = Buffer.alloc(700_000, 'picture')
  await store.put(key, bytes, 'image/png')
  const found = await store.get(key)
  t.ok(bytes.equals((await found?.all?.()) ?? Buffer.of()))
  if (found) await eventually(() => found.body.closed)
  t.equal((await store.get(key, { first: 0, last: 1 }))?.all, undefined, 'a range is not read at once')
})

t.test('files store: an upload appears under its key whole, once, and is never overwritten', async (t) => {
  const folder = t.testdir({})
  const { store, key } = make(folder)
  const upload = async (text: string, end: 'commit' | 'abandon') => {
    const begun = await store.beginUpload(key)
    begun.sink.end(text)
    await finished(begun.sink)
    t.equal(
      await read(),
      text === 'first' || end === 'abandon' ? undefined : 'first',
      'nothing is visible before the commit',
    )
    return begun[end]()
  }
  const read = async () => {
    const found = await store.get(key)
    return found && (await buffer(found.body)).toString()
  }
  await upload('lost', 'abandon')
  t.equal(await upload('first', 'commit'), true)
  t.equal(await upload('second', 'commit'), false)
  t.equal(await read(), 'first')
  t.strictSame(await Array.fromAsync(store.list('captures/')), [key])
  t.equal(readdirSync(`${folder}/captures/2026-11-20T06/${id}`).length, 1, 'no partial file is left')
  t.same(readdirSync(`${folder}/uploads`), [])
})

t.test('files store: syncs an upload before it appears, and its folders before the commit returns', async (t) => {
  const folder = t.testdir({})
  const synced: [path: string, isVisible: boolean][] = []
  const { store, key } = make(folder, async (path) => {
    synced.push([path.slice(folder.length), existsSync(`${folder}/${key}`)])
  })
  const begun = await store.beginUpload(key)
  begun.sink.end('bytes')
  await finished(begun.sink)
  t.ok(await begun.commit())
  const [file, ...folders] = synced
  t.match(file, [/^\/uploads\/\w+\.part$/, false])
  const hour = '/captures/2026-11-20T06'
  t.same(
    folders,
    ['', '/captures', hour, `${hour}/${id}`].map((path) => [path, true]),
  )
})

t.test('files store: an upload that cannot be synced is rejected and leaves no file', async (t) => {
  const folder = t.testdir({})
  const { store, key } = make(folder, () => Promise.reject(new Error('EIO')))
  const begun = await store.beginUpload(key)
  begun.sink.end('bytes')
  await finished(begun.sink)
  await t.rejects(begun.commit(), { code: 'SERVICE_UNAVAILABLE' })
  t.equal(await store.get(key), undefined)
  t.same(readdirSync(`${folder}/uploads`), [])
})

t.test('files store: an upload recreates its folder if a delete removed it', async (t) => {
  const { store, key } = make(t.testdir({}))
  for (let turn = 0; turn < 20; turn += 1) {
    const begun = await store.beginUpload(key)
    begun.sink.end('bytes')
    await finished(begun.sink)
    const [committed] = await Promise.all([begun.commit(), store.delete([newObjectKey(id, new Date())])])
    t.equal(committed, true)
    await store.delete([key])
  }
})

t.test('files store: removes uploads of killed processes after an hour, not those in progress', async (t) => {
  const folder = t.testdir({ uploads: { 'old.part': 'x', 'young.part': 'x' } })
  const { store, key, later } = make(folder)
  const now = later(0).getTime() / 1000
  utimesSync(`${folder}/uploads/old.part`, now - 3700, now - 3700)
  utimesSync(`${folder}/uploads/young.part`, now - 3500, now - 3500)
  const begun = await store.beginUpload(key)
  await eventually(() => !readdirSync(`${folder}/uploads`).includes('old.part'))
  t.ok(readdirSync(`${folder}/uploads`).includes('young.part'))
  begun.sink.end()
  await finished(begun.sink)
  await begun.abandon()
})

t.test('files store: reads ranges, deletes existing and missing objects, and rejects other paths', async (t) => {
  const folder = t.testdir({})
  const { store, key } = make(folder)
  await store.put(key, Buffer.from('0123456789'), 'image/png')
  const part = await store.get(key, { first: 2, last: 4 })
  t.equal(part?.bytes, 3)
  t.equal(part && (await buffer(part.body)).toString(), '234')
  const end = await store.get(key, { first: 8, last: 99 })
  t.equal(end?.bytes, 2)
  t.equal(end && (await buffer(end.body)).toString(), '89')
  t.equal(await store.get(key, { first: 10, last: 99 }), undefined, 'beyond its end')
  const other = newObjectKey(id, new Date('2026-11-20T06:30:00Z'))
  await store.put(other, Buffer.from('x'), 'image/png')
  await store.delete([key, newObjectKey(id, new Date(0))])
  t.equal(await store.get(key), undefined)
  const stored = await store.get(other)
  t.equal(stored && (await buffer(stored.body)).toString(), 'x')
  await store.delete([other])
  t.same(readdirSync(`${folder}/captures`), [], 'no empty folder is left')
  await t.rejects(store.get('captures/../../etc/passwd'), { code: 'BAD_REQUEST' })
  await t.rejects(store.signPut('x', 1), { code: 'BAD_REQUEST' })
})

t.test('files store: an object deleted after it was opened is read to its end', async (t) => {
  const folder = t.testdir({})
  const { store, key } = make(folder)
  await store.put(key, Buffer.from('0123456789'), 'image/png')
  const found = await store.get(key)
  rmSync(join(folder, key))
  t.equal(found && (await buffer(found.body)).toString(), '0123456789')
})

t.test('files store: lists in order, below a prefix and after a key', async (t) => {
  const { store } = make(t.testdir({}))
  const objectKey = (hour: number, digit: string, last: string) =>
    `captures/2026-01-01T0${hour}/${digit.repeat(8)}-0000-4000-8000-000000000001/${last.repeat(32)}`
  const keys = [objectKey(1, '0', 'a'), objectKey(1, '0', 'b'), objectKey(1, 'f', '0'), objectKey(2, '0', '0')]
  for (const key of keys.toReversed()) await store.put(key, Buffer.from('x'), 'image/png')
  const list = (prefix: string, after?: string) => Array.fromAsync(store.list(prefix, after))
  t.same(await list('captures/'), keys)
  for (const [index, key] of keys.entries()) t.same(await list('captures/', key), keys.slice(index + 1), key)
  t.same(await list('captures/2026-01-01T01/'), keys.slice(0, 3))
  t.same(await list('captures/2026-01-01T01/00000000-0000-4000-8000-000000000001/', keys[0]), [keys[1]])
  t.same(await list('captures/2026-01-01T0'), keys, 'a prefix may end within a folder name')
  t.same(await list('captures/2025-01-01T01/'), [])
  t.same(await list('captures/', 'captures/2026-01-01T02'), [keys[3]])
})

t.test('files store: listing a capture opens its folder without reading those of all hours and captures', async (t) => {
  const folder = t.testdir({})
  const { store, key } = make(folder)
  await store.put(key, Buffer.from('x'), 'image/png')
  // A walk that reads the folder of hours skips what is no folder there; the path of the capture leads through it.
  const hour = join(folder, dirname(dirname(key)))
  renameSync(hour, join(folder, 'elsewhere'))
  symlinkSync(join(folder, 'elsewhere'), hour)
  t.same(await Array.fromAsync(store.list('captures/')), [])
  t.same(await Array.fromAsync(store.list(`${dirname(key)}/`)), [key])
})
