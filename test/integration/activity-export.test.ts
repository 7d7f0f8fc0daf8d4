import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import t from 'tap'
import { Shutterfleet } from '#client/shutterfleet.js'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey, revokeKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { recordActivities } from '#gateway/db/activity.ts'
import type { ActivityEntry } from '#gateway/records/activity.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const gateway = await startGateway(t, { LIVE_ACCOUNT_MAX: '1' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)
const count = 1203
const from = new Date(Date.now() - 3_600_000).toISOString()

/** An account with activities of the last quarter of an hour. */
const newAccount = async (length = count) => {
  const { id } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan: 'unlimited' })
  const { key, id: keyId } = await createKey(database, { accountId: id, name: '', domains: [], pepper: testPepper })
  const activities = Array.from({ length }, (_, index) => ({
    ...{ at: new Date(Date.now() - 900_000 + Math.floor(index / 10)), id: randomUUID(), accountId: id },
    ...{ keyHash: null, sessionId: randomUUID(), client: '127.0.0.1', objectId: null, status: 200, code: null },
    operation: index % 3 === 0 ? 'create' : 'list',
  }))
  await recordActivities(database, activities)
  const get = (query: string, signal: AbortSignal | null = null) =>
    fetch(`${baseUrl}/v1/account/activity/export?${query}`, { headers: { authorization: `Bearer ${key}` }, signal })
  return { id, key, keyId, get, ids: activities.map((each) => each.id) }
}

t.test('activity export: has every entry of the range once, newest first, as JSON lines', async (t) => {
  const [{ get, ids }] = [await newAccount(), await newAccount()]
  const answer = await get(`from=${from}`)
  t.equal(answer.headers.get('content-type'), 'application/x-ndjson; charset=utf-8')
  t.match(answer.headers.get('content-disposition'), 'activity.ndjson')
  const text = await answer.text()
  t.ok(text.endsWith('\n'))
  const entries = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ActivityEntry)
    .filter(({ operation }) => operation !== 'activity_export')
  t.same(new Set(entries.map(({ id }) => id)), new Set(ids), 'those of this account alone')
  t.equal(entries.length, count)
  const times = entries.map(({ at }) => at)
  t.same(
    times,
    times.toSorted((one, other) => (one > other ? -1 : 1)),
  )
})

t.test('activity export: filters by operation and range, which must begin', async (t) => {
  const { get } = await newAccount()
  const created = (await (await get(`from=${from}&operation=create`)).text()).trim().split('\n')
  t.equal(created.length, count / 3)
  t.equal(await (await get(`from=${from}&key_id=${randomUUID()}`)).text(), '')
  t.equal(await (await get(`from=2025-01-01&to=2025-01-02`)).text(), '')
  t.match(await (await get('')).json(), { error: { code: 'VALIDATION_ERROR', details: { from: [String] } } })
})

t.test('activity export: one whose client disconnects frees its place', async (t) => {
  const { get } = await newAccount()
  const leaving = new AbortController()
  const first = await get(`from=${from}`, leaving.signal)
  t.equal(first.status, 200)
  leaving.abort()
  await eventually(async () => {
    const answer = await get(`from=${from}`)
    await answer.text()
    return answer.status === 200
  })
})

t.test('activity export: breaks off once its key is revoked', async (t) => {
  const { get, keyId } = await newAccount(30_000)
  const answer = await get(`from=${from}`)
  t.equal(answer.status, 200)
  await revokeKey(database, keyId)
  await t.rejects(answer.text(), 'more than buffers hold was left to read')
})

t.test('activity export: the client and the command line read it line by line', async (t) => {
  const { key } = await newAccount()
  const shots = new Shutterfleet({ baseUrl, apiKey: key })
  let read = 0
  for await (const { operation } of shots.exportActivity({ from, operation: 'list' }))
    read += operation === 'list' ? 1 : 0
  t.equal(read, (count * 2) / 3)
  const run = async (...flags: readonly string[]) => {
    const env = { ...process.env, SHUTTERFLEET_BASE_URL: baseUrl, SHUTTERFLEET_API_KEY: key }
    const { stdout } = await promisify(execFile)(commandLine, ['activity', ...flags], { env, maxBuffer: 1e7 })
    return stdout.trim().split('\n')
  }
  const lines = await run('--since', '1h', '--operation', 'create', '--json')
  t.equal(lines.length, count / 3)
  t.match(JSON.parse(lines[0] ?? ''), { operation: 'create', status: 200 })
  t.match((await run('--operation', 'create'))[0], /^\d{4}-\S+ create 200 127\.0\.0\.1 session$/)
  await t.rejects(run('--since', 'soon'), { code: 2 })
})
