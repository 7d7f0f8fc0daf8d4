import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { copyObjects, objectsCopy, openBucket } from '#cli/objects-copy.ts'
import type { ObjectStore } from '#shared/storage/object-store.ts'
import { newObjectKey } from '#shared/storage/objects.ts'

/** The methods that the copy uses; `lie` is added to the reported length of an object. */
const storeOf = (objects: Map<string, string>, lie = 0): ObjectStore => {
  const unused = () => Promise.reject(new Error('not used'))
  return {
    signPut: unused,
    put: unused,
    delete: unused,
    get: async (key) => {
      const text = objects.get(key)
      return text === undefined ? undefined : { body: Readable.from([Buffer.from(text)]), bytes: text.length + lie }
    },
    list: async function* list() {
      yield* [...objects.keys()].toSorted()
    },
  }
}
const keys = Array.from({ length: 20 }, () => newObjectKey(crypto.randomUUID(), new Date(0))).toSorted()
const all = new Map(keys.map((key, index) => [key, `image ${index}`]))
const copy = async (from: ObjectStore, there: Map<string, string>) => {
  const written: string[] = []
  const progress: number[] = []
  const store = async (key: string, bytes: Buffer) => void (written.push(key), there.set(key, bytes.toString()))
  const to = { objects: storeOf(new Map(there)), store }
  return { done: await copyObjects(from, to, ({ copied }) => progress.push(copied)), written, progress }
}

t.test('copy: copies missing objects anywhere in the list, and nothing else', async (t) => {
  for (const existing of [[], keys, keys.slice(0, 5), keys.slice(15), keys.filter((_, index) => index % 3 === 0)]) {
    const there = new Map(existing.map((key) => [key, 'as it was']))
    there.set('captures/of-another', 'which the first has not')
    const { done, written } = await copy(storeOf(all), there)
    t.match(done, { copied: 20 - existing.length, kept: existing.length })
    t.strictSame(
      written.toSorted(),
      keys.filter((key) => !existing.includes(key)),
    )
    t.equal(there.size, 21)
  }
})

t.test('copy: reports its progress after each object that it has stored', async (t) => {
  const { progress } = await copy(storeOf(all), new Map())
  t.strictSame(
    progress,
    Array.from(keys, (_, index) => index + 1),
  )
})

t.test('copy: does not store an object that ends early', async (t) => {
  const there = new Map<string, string>()
  await t.rejects(copy(storeOf(all, 1), there), { message: /ended after \d+ of \d+ bytes/ })
  t.equal(there.size, 0)
})

t.test('copy: skips an object that was deleted meanwhile', async (t) => {
  const from = storeOf(all)
  const get: ObjectStore['get'] = async (key) => (key === keys[3] ? undefined : from.get(key))
  t.match((await copy({ ...from, get }, new Map())).done, { copied: 19 })
})

t.test('copy: a folder to copy from must exist, so that a typing error is no empty backup', async (t) => {
  const folder = t.testdir({ from: {} })
  const copied: unknown[] = []
  const print = (result: { json: unknown }) => void copied.push(result.json)
  const context = { env: {}, root: '/', stop: new AbortController().signal, note: () => {}, write: () => {} }
  const run = (from: string) =>
    objectsCopy.run({ ...context, print, printEach: print }, { flags: { from, to: join(folder, 'to') }, operands: [] })
  await t.rejects(run(join(folder, 'form')), { message: /--from .*form: there is no such folder/ })
  await run(join(folder, 'from'))
  t.strictSame(copied, [{ copied: 0, kept: 0, bytes: 0 }])
})

t.test('copy: opens a bucket with the keys of its address, else with those that the settings name', async (t) => {
  const settings = { SHUTTERFLEET_S3_KEYS_FROM: 'file', SHUTTERFLEET_S3_KEYS_FILE: '/missing/keys' }
  await t.resolves(openBucket('https://K:S@s3.example.com/images', settings))
  const { objects } = await openBucket('https://s3.example.com/images', settings)
  await t.rejects(objects.get('captures/x'), { message: /no valid keys: .*\/missing\/keys/ })
  await t.rejects(openBucket('https://s3.example.com/images', {}), {
    message: /the address of s3\.example\.com has no keys: write .*, or set SHUTTERFLEET_S3_KEYS_FROM/,
  })
})
