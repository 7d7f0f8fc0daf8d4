import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import type { Ledger } from '#ledger/context.ts'
import { removeObjects } from '#ledger/remove-objects.ts'
import { sweepOrphans } from '#ledger/sweep-orphans.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { createS3Store } from '#shared/storage/s3-store.ts'
import { createTestLedger } from '#test/helpers/ledger.ts'
import { startPostgres } from '#test/helpers/postgres.ts'

const server = await startPostgres(t)
const hourMs = 3_600_000
const now = new Date('2026-06-10T12:00:00Z')
const keysAt = (hoursAgo: number, count: number) =>
  Array.from({ length: count }, () => newObjectKey(randomUUID(), new Date(now.getTime() - hoursAgo * hourMs)))

/** The page of a listing by S3's rules: keys in order after the last of the page before, or after `start-after`. */
const listPage = (keys: ReadonlySet<string>, query: URLSearchParams) => {
  const after = query.get('continuation-token') || query.get('start-after') || ''
  const left = [...keys].filter((key) => key > after && key.startsWith(query.get('prefix') ?? '')).toSorted()
  const page = left.slice(0, Number(query.get('max-keys')))
  const contents = page.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('')
  const isTruncated = page.length < left.length
  const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
  return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents}</ListBucketResult>`
}

/** A ledger on an S3 store that holds `keys` and counts its requests: pages that were listed, and keys of each deletion. */
const startCounted = async (t: Test, initial: readonly string[]) => {
  const keys = new Set(initial)
  const requests: { readonly listed: string[]; readonly deleted: number[] } = { listed: [], deleted: [] }
  const bucket = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://store')
    response.setHeader('content-type', 'application/xml')
    if (request.method === 'GET') {
      requests.listed.push(searchParams.get('start-after') ?? '')
      return response.end(listPage(keys, searchParams))
    }
    const removed = [...(await text(request)).matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key)
    for (const key of removed) keys.delete(key)
    requests.deleted.push(removed.length)
    return response.end('<DeleteResult></DeleteResult>')
  }).listen(0, '127.0.0.1')
  await once(bucket, 'listening')
  t.teardown(() => {
    bucket.closeAllConnections()
    bucket.close()
  })
  const { port } = bucket.address() as AddressInfo
  const database = await server.createDatabase()
  const objects = createS3Store(`http://K:S@127.0.0.1:${port}/images`)
  const ledger = createTestLedger(database, {} as Ledger['queue'], { objects })
  return { database, ledger, keys, requests }
}

t.test('store requests: a removal takes one request for a thousand objects, whatever the store holds', async (t) => {
  const [due, stored] = [keysAt(72, 2500), keysAt(60, 2500)]
  const { database, ledger, keys, requests } = await startCounted(t, [...due, ...stored])
  await database.query(`insert into object_removal (key, not_before) select unnest($1::text[]), now()`, [due])
  while (await removeObjects(ledger));
  t.same(requests, { listed: [], deleted: [1000, 1000, 500] })
  t.same([...keys].toSorted(), stored.toSorted(), 'only what was due is gone')
})

t.test(
  'store requests: a sweep lists each page once, and once it is through one page a turn, after the last key',
  async (t) => {
    const stored = keysAt(72, 2500).toSorted()
    const { database, ledger, keys, requests } = await startCounted(t, stored)
    for (let turn = 0; turn < 3; turn += 1) t.equal(await sweepOrphans(ledger, now), turn < 2)
    t.same(requests.listed, ['', stored[999], stored[1999]])
    t.equal((await database.query('select from object_removal')).length, 2500, 'none of them has a record')
    const [added = ''] = keysAt(49, 1)
    keys.add(added)
    for (let turn = 0; turn < 3; turn += 1) await sweepOrphans(ledger, now)
    t.same(requests.listed.slice(3), [stored[2499], added, added])
  },
)
