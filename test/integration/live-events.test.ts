import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey, revokeKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type ReceivedEvent, readEvents } from '#test/helpers/read-events.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { type Behaviour, startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const gateway = await startGateway(t, { LIVE_ACCOUNT_MAX: '2', PUBLIC_URL: 'https://shots.example' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

const image = Buffer.from('an image')
const pages: Record<string, Behaviour> = {
  'https://example.com/never': 'nothing',
  'https://example.com/late': { fails: 'TIMEOUT' },
}
const fleet = startStandInFleet(gateway, ({ options: { url } }) => pages[url ?? ''] ?? { image })
t.teardown(() => fleet[Symbol.asyncDispose]())

const newAccount = async () => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan: 'unlimited' })
  const { key, id: keyId } = await createKey(database, { accountId: id, name: '', domains: [], pepper: testPepper })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const create = async (page: string) => {
    const body = JSON.stringify({ url: `https://example.com/${page}` })
    const answer = await fetch(`${baseUrl}/v1/screenshots`, { method: 'POST', headers, body })
    return ((await answer.json()) as { data: { id: string } }).data.id
  }
  const get = (path: string, more: Record<string, string> = {}, signal: AbortSignal | null = null) =>
    fetch(`${baseUrl}/v1/screenshots/${path}`, { headers: { ...headers, ...more }, signal })
  /** Opens a stream; `events` grows until it ends. */
  const follow = async (path: string, more: Record<string, string> = {}) => {
    const leaving = new AbortController()
    const answer = await get(`${path}/events`, more, leaving.signal)
    t.equal(answer.status, 200)
    return { ...readEvents(answer), answer, leave: () => leaving.abort() }
  }
  return { id, keyId, create, get, follow }
}

/** A page whose capture goes on until `end` is called. */
const heldPage = (name: string) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  pages[`https://example.com/${name}`] = { image, before: () => promise }
  return { end: resolve }
}

const named = (events: readonly ReceivedEvent[], name: string) => events.filter((event) => event.name === name)

/** Creates a batch of captures that were accepted one by one. */
const createBatch = async (account: Awaited<ReturnType<typeof newAccount>>, names: readonly string[]) => {
  const ids: string[] = []
  for (const page of names) ids.push(await account.create(page))
  const batchId = randomUUID()
  await database.query('insert into batch (id, account_id, total, created_at) values ($1, $2, $3, now())', [
    batchId,
    account.id,
    names.length,
  ])
  await database.query(
    `update capture c set batch_id = $1, batch_index = m.place - 1
       from unnest($2::uuid[]) with ordinality as m (id, place) where c.id = m.id`,
    [batchId, ids],
  )
  return { batchId, ids }
}

t.test('live events: a stream sends the status, the start, and the whole record at the end', async (t) => {
  const { create, follow, get } = await newAccount()
  const page = heldPage('held')
  const id = await create('held')
  const { events, ended, answer } = await follow(id)
  for (const [name, value] of Object.entries({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
  })) {
    t.equal(answer.headers.get(name), value)
  }
  t.ok(answer.headers.get('x-request-id'))
  await eventually(() => named(events, 'status').length === 1)
  t.match(named(events, 'status')[0], { data: { status: 'pending', position: Number } })
  await database.query(`update capture set status = 'processing', started_at = now() where id = $1`, [id])
  await eventually(() => named(events, 'started').length === 1)
  t.match(named(events, 'started')[0]?.data, { started_at: /^\d{4}-.*\.\d{6}Z$/ })
  t.match(named(events, 'status')[1]?.data, { status: 'processing' })
  page.end()
  await ended
  const { data: record } = (await (await get(id)).json()) as { data: object }
  t.same(events.at(-1), { name: 'result', id: 'result', data: record })
  t.match(record, { status: 'completed', image_url: `https://shots.example/v1/screenshots/${id}/image` })
})

t.test('live events: a stream reports failed, already ended and deleted captures', async (t) => {
  const { create, follow, get } = await newAccount()
  const failing = await create('late')
  const failed = await follow(failing)
  await failed.ended
  t.match(failed.events.at(-1), { name: 'result', data: { status: 'failed', error: { code: 'TIMEOUT' } } })
  const again = await follow(failing)
  await again.ended
  t.equal(again.events.length, 1, 'an ended capture sends only its end')
  t.match(again.events[0], failed.events.at(-1) ?? {})
  const finished = await get(`${failing}/events`, { 'last-event-id': 'result' })
  t.equal(finished.status, 204, '204 stops a client that has seen the end')

  const id = await create('never')
  const deleted = await follow(id)
  await eventually(() => deleted.events.length > 0)
  await database.query('delete from capture where id = $1', [id])
  await deleted.ended
  t.match(deleted.events.at(-1), { name: 'deleted', data: { id } })
  t.equal((await get(`${id}/events`)).status, 404)
})

t.test('live events: the position counts the earlier waiting captures in the same lane, of any account', async (t) => {
  const { create, follow } = await newAccount()
  const other = await newAccount()
  await database.query('delete from capture')
  const first = await other.create('never')
  await database.query(`update capture set lane = 'interactive' where id = $1`, [await other.create('never')])
  const second = await create('never')
  const mine = await create('never')
  await other.create('never')
  const stream = await follow(mine)
  await eventually(() => stream.events.length === 1)
  t.same(stream.events[0]?.data, { status: 'pending', position: 2 })
  await database.query(`update capture set status = 'processing' where id = any ($1)`, [[first]])
  await eventually(() => stream.events.length === 2)
  t.same(stream.events[1]?.data, { status: 'pending', position: 1 })
  await database.query('delete from capture where id = any ($1)', [[second]])
  await eventually(() => stream.events.length === 3)
  t.same(stream.events[2]?.data, { status: 'pending', position: 0 }, 'sent only on change')
  stream.leave()
})

t.test('live events: streams end with `unauthorized` within 30 s of key revocation; others continue', async (t) => {
  const account = await newAccount()
  const other = await newAccount()
  const { batchId } = await createBatch(account, ['never'])
  const streams = [await account.follow(await account.create('never')), await account.follow(`batch/${batchId}`)]
  const open = await other.follow(await other.create('never'))
  await eventually(() => [...streams, open].every(({ events }) => events.length > 0))
  await revokeKey(database, account.keyId)
  const ended = Promise.all(streams.map((stream) => stream.ended)).then(() => 'ended')
  t.equal(await Promise.race([ended, delay(30_000, 'open', { ref: false })]), 'ended')
  for (const { events } of streams) {
    const data = { code: 'INVALID_API_KEY', message: 'The API key is missing, invalid, expired or revoked.' }
    t.same(events.at(-1), { name: 'unauthorized', id: '', data })
  }
  t.notOk(named(open.events, 'unauthorized').length)
  const page = heldPage('after')
  const after = await other.create('after')
  page.end()
  const last = await other.follow(after)
  await last.ended
  t.match(last.events.at(-1), { name: 'result' })
  open.leave()
})

t.test('live events: parameters, keys and ids of others are refused as everywhere', async (t) => {
  const { create, get } = await newAccount()
  const other = await newAccount()
  const id = await create('never')
  t.equal((await other.get(`${id}/events`)).status, 404)
  t.equal((await get('batch/events')).status, 404, '`batch` is never an id')
  t.equal((await get(`batch/${id}/events`)).status, 404)
  t.match(await (await get(`${id}/events?wait=1`)).json(), { error: { details: { wait: [String] } } })
  const anonymous = await fetch(`${baseUrl}/v1/screenshots/${id}/events`)
  t.match([anonymous.status, await anonymous.json()], [401, { error: { code: 'INVALID_API_KEY' } }])
})

t.test('live events: streams are bounded per account, and a client that disconnects frees its slot', async (t) => {
  const { create, get, follow } = await newAccount()
  const other = await newAccount()
  const id = await create('never')
  const first = await follow(id)
  const second = await follow(id)
  const third = await get(`${id}/events`)
  t.match([third.status, await third.json()], [429, { error: { code: 'RATE_LIMIT_EXCEEDED', retry_after: 10 } }])
  t.equal(third.headers.get('retry-after'), '10')
  ;(await other.follow(await other.create('never'))).leave()
  first.leave()
  const leaving = new AbortController()
  await eventually(async () => (await get(`${id}/events`, {}, leaving.signal)).status === 200)
  leaving.abort()
  second.leave()
})

t.test('live events: a batch stream sends counts, each capture at its end, and the batch at its end', async (t) => {
  const account = await newAccount()
  const [first, second] = [heldPage('one'), heldPage('two')]
  const { batchId, ids } = await createBatch(account, ['one', 'two'])
  const stream = await account.follow(`batch/${batchId}`)
  await eventually(() => stream.events.length === 1)
  t.same(stream.events[0]?.data, { status: 'pending', total: 2, pending: 2, processing: 0, completed: 0, failed: 0 })

  first.end()
  await eventually(() => named(stream.events, 'screenshot').length === 1)
  await eventually(() => named(stream.events, 'status').at(-1)?.data['completed'] === 1)
  t.match(named(stream.events, 'screenshot')[0], { id: 'm1', data: { index: 0, id: ids[0], status: 'completed' } })
  t.match(named(stream.events, 'status').at(-1)?.data, { status: 'processing', pending: 1, completed: 1 })

  const again = await account.follow(`batch/${batchId}`, { 'last-event-id': 'm1' })
  second.end()
  await Promise.all([stream.ended, again.ended])
  t.same(
    named(again.events, 'screenshot').map(({ data }) => data['index']),
    [1],
    'a reconnecting client receives only unseen events',
  )
  t.same(stream.events.at(-1), again.events.at(-1))
  t.match(stream.events.at(-1), {
    name: 'result',
    data: { id: batchId, status: 'completed', total: 2, completed: 2, pending: 0, created_at: String },
  })
  t.match(stream.events.at(-1)?.data['screenshots'], [
    { index: 0, id: ids[0], status: 'completed' },
    { index: 1, id: ids[1], status: 'completed' },
  ])
  t.equal((await account.get(`batch/${batchId}/events`, { 'last-event-id': 'result' })).status, 204)
  t.equal((await (await newAccount()).get(`batch/${batchId}/events`)).status, 404)
})
