import { randomUUID } from 'node:crypto'
import { openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { type Activity, recordActivities } from '#gateway/db/activity.ts'
import type { ActivityEntry } from '#gateway/records/activity.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { sendJson, signIn } from '#test/helpers/console-client.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const log = join(t.testdir(), 'log')
const gateway = await startGateway(t, { LOG_LEVEL: 'warn' }, undefined, openSync(log, 'w'))
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

const newAccount = async () => {
  const { id } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan: 'unlimited' })
  const { id: keyId, key } = await createKey(database, { accountId: id, name: 'k', domains: [], pepper: testPepper })
  const headers = { authorization: `Bearer ${key}` }
  const send = (method: string, path: string, body?: unknown) =>
    sendJson(`${baseUrl}/v1${path}`, method, { body, headers })
  const list = async (query = '') => {
    const { data, meta } = (await (await send('GET', `/account/activity${query}`)).json()) as {
      data: ActivityEntry[]
      meta: { next_cursor: string | null }
    }
    return { data: data.filter(({ operation }) => operation !== 'activity'), cursor: meta.next_cursor }
  }
  /** The entries once there are `count`, besides those of the list itself. */
  const awaitEntries = async (count: number) => {
    const stored = `select from activity where account_id = $1 and operation <> 'activity'`
    await eventually(async () => (await database.query(stored, [id])).length >= count, { what: `${count} entries` })
    return (await list()).data
  }
  return { id, keyId, send, list, awaitEntries }
}

// Contract: Activity
t.test('activity: each request has its key, client, operation, object and outcome', async (t) => {
  const { keyId, send, awaitEntries } = await newAccount()
  const created = await send('POST', '/screenshots', { html: '<h1>x' })
  const { data } = (await created.json()) as { data: { id: string } }
  await send('GET', '/screenshots/00000000-0000-4000-8000-000000000000')
  await send('POST', '/screenshots', { html: 'x', width: 1 })
  const by = { key_id: keyId, session_id: null, client: '127.0.0.1' }
  t.match(await awaitEntries(3), [
    { ...by, operation: 'create', object_id: null, status: 422, code: 'VALIDATION_ERROR' },
    { ...by, operation: 'status', object_id: '00000000-0000-4000-8000-000000000000', status: 404, code: 'NOT_FOUND' },
    { ...by, operation: 'create', object_id: data.id, status: 202, code: null },
  ])
})

t.test('activity: what was done before an account was erased is not written after its erasure', async (t) => {
  const [gone, stays] = [await newAccount(), await newAccount()]
  await database.query('update account set erasing_at = now() where id = $1 returning id', [gone.id])
  const entry = (accountId: string): Activity => ({
    ...{ at: new Date(), id: randomUUID(), accountId, keyHash: null, sessionId: randomUUID(), client: '127.0.0.1' },
    ...{ operation: 'list', objectId: null, status: 200, code: null },
  })
  await recordActivities(database, [gone.id, randomUUID(), stays.id].map(entry))
  const written = async (id: string) =>
    (await database.query('select from activity where account_id = $1', [id])).length
  t.equal(await written(gone.id), 0)
  t.equal(await written(stays.id), 1)
})

// Contract: Activity
t.test('activity: requests of a session have the session, also those that its role may not make', async (t) => {
  const { id, awaitEntries } = await newAccount()
  const { call } = await signIn(gateway, id, 'viewer')
  t.equal((await call('GET', '/v1/keys')).status, 200)
  t.equal((await call('POST', '/v1/keys', { body: { name: 'x' } })).status, 403)
  const entries = (await awaitEntries(2)).filter(({ operation }) => operation.startsWith('key_'))
  t.match(entries, [
    { key_id: null, session_id: /-/, operation: 'key_create', status: 403, code: 'FORBIDDEN' },
    { key_id: null, session_id: /-/, operation: 'key_list', status: 200, code: null },
  ])
})

// Contract: Activity
t.test('activity: a wrong key leaves nothing, and no account sees the entries of another', async (t) => {
  const [one, other] = [await newAccount(), await newAccount()]
  await one.send('GET', '/account')
  await one.awaitEntries(1)
  const wrong = await sendJson(`${baseUrl}/v1/account`, 'GET', {
    headers: { authorization: `Bearer sk_live_${'x'.repeat(40)}` },
  })
  t.equal(wrong.status, 401)
  await other.send('GET', '/account/usage')
  t.match(await other.awaitEntries(1), [{ operation: 'usage' }])
  t.equal((await database.query(`select from activity where code = 'INVALID_API_KEY'`)).length, 0)
})

// Contract: Activity
t.test('activity: is filtered by time, key and operation, and read page by page', async (t) => {
  const { keyId, send, list, awaitEntries } = await newAccount()
  for (const path of ['/account', '/account/usage', '/account']) await send('GET', path)
  await awaitEntries(3)
  t.equal((await list('?operation=account')).data.length, 2)
  t.equal((await list(`?key_id=${keyId}`)).data.length, 3)
  t.equal((await list('?key_id=00000000-0000-4000-8000-000000000000')).data.length, 0)
  t.equal((await list('?to=2020-01-01')).data.length, 0)
  t.equal((await list('?from=2020-01-01')).data.length, 3)
  const read: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await list(`?per_page=1&from=2020-01-01&operation=account${cursor && `&cursor=${cursor}`}`)
    read.push(...page.data.map(({ id }) => id))
    cursor = page.cursor
  }
  t.equal(new Set(read).size, 2)
  const refused = await send('GET', '/account/activity?from=soon&key_id=x&cursor=y')
  const { error } = (await refused.json()) as { error: { details: object } }
  t.same(Object.keys(error.details).toSorted(), ['cursor', 'from', 'key_id'])
  const backwards = await send('GET', '/account/activity?from=2026-01-02&to=2026-01-01')
  t.match(await backwards.json(), { error: { details: { to: ['must not be before from'] } } })
})

const partitions = async (): Promise<string[]> => {
  const rows = await database.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'activity'::regclass order by 1`,
  )
  return rows.map(({ name }) => name)
}

const partitionOf = async (test: Test, day: string) => {
  const name = `activity_${day.replaceAll('-', '')}`
  await database.query(
    `create table ${name} partition of activity for values from ('${day}T00:00Z') to ('${day}T24:00Z')`,
  )
  test.ok((await partitions()).includes(name))
  return name
}

t.test('activity: has a partition for each day of the next week, and loses the days past retention', async (t) => {
  const old = await partitionOf(t, '2020-01-01')
  const [{ kept } = { kept: '' }] = await database.query<{ kept: string }>(
    `select to_char((now() at time zone 'utc')::date - 3, 'YYYY-MM-DD') as kept`,
  )
  const recent = await partitionOf(t, kept)
  await database.query('select keep_activity(3)')
  const left = await partitions()
  t.notOk(left.includes(old))
  t.ok(left.includes(recent))
  const week = await database.query<{ name: string }>(
    `select to_char((now() at time zone 'utc')::date + day, '"activity_"YYYYMMDD') as name from generate_series(-1, 7) day`,
  )
  for (const { name } of week) t.ok(left.includes(name), `from yesterday to seven days ahead: ${name}`)
})

t.test('activity: what cannot be stored is stored later', async (t) => {
  const { send, awaitEntries } = await newAccount()
  await database.query('alter table activity add constraint full_up check (false) not valid')
  await send('GET', '/account')
  await eventually(async () => /activities could not be stored/.test(await readFile(log, 'utf8')))
  await database.query('alter table activity drop constraint full_up')
  t.match(await awaitEntries(1), [{ operation: 'account' }])
})
