import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { changeKey, createKey, revokeKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type ReceivedEvent, readEvents } from '#test/helpers/read-events.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { type Behaviour, startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const gateway = await startGateway(t, { LIVE_ACCOUNT_MAX: '2', PUBLIC_URL: 'https://shots.example' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

const pages: Record<string, Behaviour> = {
  'https://example.com/never': 'nothing',
  'https://example.com/late': { fails: 'TIMEOUT' },
}
const image = Buffer.from('an image')
const fleet = startStandInFleet(gateway, ({ options: { url } }) => pages[url ?? ''] ?? { image })
t.teardown(() => fleet[Symbol.asyncDispose]())

const newAccount = async () => {
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan: 'unlimited' })
  const { key, id: keyId } = await createKey(database, { accountId: id, name: '', domains: [], pepper: testPepper })
  const call = (method: string, path: string, body?: object, signal: AbortSignal | null = null) =>
    fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      body: body ? JSON.stringify(body) : null,
      signal,
    })
  const create = async (page: string, more: object = {}) => {
    const answer = await call('POST', '/screenshots', { url: `https://example.com/${page}`, ...more })
    return ((await answer.json()) as { data: { id: string } }).data.id
  }
  /** Opens a stream and waits until it is ready. */
  const follow = async () => {
    const leaving = new AbortController()
    t.teardown(() => leaving.abort())
    const answer = await call('GET', '/events', undefined, leaving.signal)
    t.equal(answer.status, 200)
    const stream = readEvents(answer)
    await eventually(() => stream.events.length > 0)
    t.same(stream.events[0], { name: 'ready', id: '', data: {} })
    return { ...stream, leave: () => leaving.abort() }
  }
  return { id, keyId, call, create, follow }
}

/** The ids that an event names. */
const idsOf = (event: ReceivedEvent | undefined): readonly string[] =>
  event ? ((event.data['ids'] ?? [event.data['id']].filter((id) => id !== undefined)) as string[]) : []

const sorted = (ids: Iterable<string>) => [...new Set(ids)].toSorted((one, other) => (one < other ? -1 : 1))

const namesOf = (events: readonly ReceivedEvent[], id: string) =>
  events.filter(({ data }) => data['id'] === id).map(({ name }) => name)

t.test('account events: acceptance, start, end and deletion of captures, with their records', async (t) => {
  const { create, call, follow } = await newAccount()
  const earlier = await create('never')
  const { events, leave } = await follow()
  const id = await create('never')
  await eventually(() => namesOf(events, id).includes('accepted'))
  await database.query(`update capture set status = 'processing', started_at = now() where id = $1`, [id])
  await create('never')
  await eventually(() => namesOf(events, id).includes('started'))
  const ended = await create('quick')
  const failed = await create('late')
  for (const each of [ended, failed]) await eventually(() => namesOf(events, each).includes('ended'))
  const { data: record } = (await (await call('GET', `/screenshots/${ended}`)).json()) as { data: object }
  t.same(events.find(({ name, data }) => name === 'ended' && data['id'] === ended)?.data, record)
  t.match(events.find(({ name, data }) => name === 'ended' && data['id'] === failed)?.data, {
    error: { code: 'TIMEOUT' },
  })
  for (const each of [ended, id]) {
    t.equal((await call('DELETE', `/screenshots/${each}`)).status, 204)
    await eventually(() => namesOf(events, each).includes('deleted'))
  }
  t.same(namesOf(events, id), ['accepted', 'started', 'deleted'])
  t.same(namesOf(events, earlier), [], 'what has not changed since the stream began is not reported')
  leave()
})

t.test('account events: a capture that follows an identical one is reported too', async (t) => {
  const { create, follow } = await newAccount()
  await create('never', { cache_ttl: 60 })
  const { events, leave } = await follow()
  const follower = await create('never', { cache_ttl: 60 })
  await eventually(() => namesOf(events, follower).includes('accepted'))
  t.same(namesOf(events, follower), ['accepted'])
  leave()
})

t.test('account events: a stream has those of its account alone, whoever else is busy', async (t) => {
  const [one, other] = [await newAccount(), await newAccount()]
  const [mine, theirs] = [await one.follow(), await other.follow()]
  const ids = [await one.create('quick'), await one.create('never')]
  const otherIds = [await other.create('quick'), await other.create('late')]
  for (const [stream, own] of [
    [mine, ids],
    [theirs, otherIds],
  ] as const)
    await eventually(() => own.every((id) => namesOf(stream.events, id).length > 0))
  await delay(3000)
  t.same(sorted(mine.events.flatMap(idsOf)), sorted(ids))
  t.same(sorted(theirs.events.flatMap(idsOf)), sorted(otherIds))
  for (const stream of [mine, theirs]) stream.leave()
})

t.test('account events: many changes at once are one event with at most 100 ids', async (t) => {
  const { call, id, follow } = await newAccount()
  const { events, leave } = await follow()
  const urls = Array.from({ length: 60 }, (_, index) => `https://example.com/never?${index}`)
  for (const url of urls) pages[url] = 'nothing'
  await call('POST', '/screenshots/batch', { urls })
  await eventually(() => events.some(({ name }) => name === 'changed'))
  t.match(events[1], { name: 'changed', data: { more: false } })
  t.equal(idsOf(events[1]).length, 60)
  const more = () => events.filter(({ data }) => data['more'] === true)
  const again = Array.from({ length: 85 }, (_, index) => `https://example.com/never?${index + 100}`)
  for (const url of again) pages[url] = 'nothing'
  await call('POST', '/screenshots/batch', { urls: again })
  await eventually(() => events.length === 3)
  t.equal(idsOf(events[2]).length, 85)
  t.equal(more().length, 0, 'those that are pending are the oldest 50 and the newest 100')
  await call('POST', '/screenshots/batch', { urls })
  await eventually(() => more().length === 1, { what: 'others may change that are not compared' })
  t.equal((await database.query('select from capture where account_id = $1', [id])).length, 205)
  leave()
})

t.test('account events: bounded per account, for readers only, and ended with the key', async (t) => {
  const account = await newAccount()
  const [first, second] = [await account.follow(), await account.follow()]
  const third = await account.call('GET', '/events')
  t.equal(third.status, 429)
  t.ok(third.headers.get('retry-after'))
  first.leave()
  await revokeKey(database, account.keyId)
  await second.ended
  t.equal(second.events.at(-1)?.name, 'unauthorized')
  t.equal((await fetch(`${baseUrl}/v1/events`)).status, 401)
})

t.test('account events: a stream ends once its key allows no more what opened it', async (t) => {
  const account = await newAccount()
  const { events, ended } = await account.follow()
  await changeKey(database, account.keyId, { domains: ['shop.example'] })
  await ended
  t.equal(events.at(-1)?.name, 'unauthorized')
})
