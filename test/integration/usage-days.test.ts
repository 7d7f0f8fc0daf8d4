import { createHash } from 'node:crypto'
import t from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { deleteCapture } from '#gateway/db/captures.ts'
import type { UsageDay } from '#gateway/records/account.ts'
import { removeExpiredRows } from '#ledger/remove-expired-rows.ts'
import { type CaptureEnd, changeCaptures } from '#shared/db/change-captures.ts'
import { createKey } from '#shared/db/keys.ts'
import { completedEnd } from '#test/helpers/completed-end.ts'
import { chargeDifferences } from '#test/helpers/meter-differences.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { storeCaptures } from '#test/helpers/stored-captures.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const { database, baseUrl } = await startGateway(t)

const readUsage = async (accountId: string) => {
  const { key } = await createKey(database, { accountId, name: 'key', domains: [], pepper: testPepper })
  return async (query: string) => {
    const answer = await fetch(`${baseUrl}/v1/account/usage${query}`, { headers: { authorization: `Bearer ${key}` } })
    const { data, error } = (await answer.json()) as {
      data?: { days?: readonly UsageDay[]; screenshots_used: number }
      error?: { details: object }
    }
    return { status: answer.status, data, details: error?.details }
  }
}

const newAccount = async () => {
  const { accountId } = await createTenant(database)
  return { accountId, usage: await readUsage(accountId) }
}

const sharing = (text: string) => ({ sharing: { key: createHash('sha256').update(text).digest(), seconds: 600 } })
const begin = (id: string) =>
  changeCaptures(database, [id], () => ({ change: { attempts: 1, unendedStarts: 1, begins: true } }))
const end = (id: string, how: CaptureEnd = completedEnd({ id })) =>
  changeCaptures(database, [id], () => ({ change: { attempts: 1, unendedStarts: 0, begins: false, end: how } }))

// Contract: Usage by day
// Contract: Charging
t.test('usage by day: counts what became of captures, and keeps it when their records are deleted', async (t) => {
  const tenant = await createTenant(database)
  const usage = await readUsage(tenant.accountId)
  const accept = async (more: Parameters<typeof tenant.capture>[0] = {}) => {
    const capture = tenant.capture(more)
    const { ok } = await acceptCapture(database, capture, { windowSize: 16 })
    if (!ok) throw new Error('not accepted')
    return capture.id
  }
  const remove = async (id: string) => t.ok(await deleteCapture(database, { id, accountId: tenant.accountId }))
  const today = async () => (await usage(`?from=${new Date().toISOString().slice(0, 10)}`)).data

  const plain = await accept()
  t.match(
    await today(),
    { screenshots_used: 1, days: [{ charged: 0, completed: 0 }] },
    'an open one is not counted yet',
  )
  await end(plain)
  const [leader, follower] = [await accept(sharing('a')), await accept(sharing('a'))]
  await end(leader)
  const hit = await accept(sharing('a'))
  const [failing, failingToo] = [await accept(sharing('b')), await accept(sharing('b'))]
  await end(failing, { status: 'failed', code: 'TIMEOUT', message: 'slow' })
  const crashed = await accept()
  await end(crashed, { status: 'failed', code: 'DNS_FAILED', message: 'gone' })
  const counted = {
    charged: 2,
    completed: 4,
    cached: 2,
    failed: 3,
    failures: [
      { code: 'DNS_FAILED', count: 1 },
      { code: 'TIMEOUT', count: 2 },
    ],
  }
  t.match(await today(), { screenshots_used: 2, days: [counted] })

  for (const id of [plain, leader, follower, hit, failing, failingToo, crashed]) await remove(id)
  t.match(await today(), { screenshots_used: 2, days: [counted] }, 'records are not what is counted')
  const waiting = await accept()
  await remove(waiting)
  t.match(await today(), { days: [counted] }, 'one that did not begin costs nothing')
  const running = await accept()
  await begin(running)
  await remove(running)
  t.match(await today(), { screenshots_used: 3, days: [{ ...counted, charged: 3 }] }, 'one that ran is charged')
  const [led, promoted] = [await accept(sharing('c')), await accept(sharing('c'))]
  await begin(led)
  await remove(led)
  t.match(await today(), { days: [{ ...counted, charged: 3 }] }, 'its follower takes the charge over')
  await end(promoted)
  t.match(await today(), { screenshots_used: 4, days: [{ ...counted, charged: 4, completed: 5 }] })
  t.same(await database.query(chargeDifferences), [])
})

// Contract: Usage by day
t.test('usage by day: has an entry for every requested day in UTC, and none of other accounts', async (t) => {
  const [{ accountId, usage }, other] = [await newAccount(), await newAccount()]
  const store = (createdAt: string, account = accountId) =>
    storeCaptures(database, { accountId: account, count: 2, createdAt })
  await store('2026-03-01T23:59:58Z')
  await store('2026-03-03T01:00:00+02:00')
  await store('2026-03-02T12:00:00Z', other.accountId)
  const completedBy = async (query: string) =>
    (await usage(query)).data?.days?.map(({ day, completed: count }) => [day, count])

  t.same(await completedBy('?from=2026-02-28&to=2026-03-03'), [
    ['2026-02-28', 0],
    ['2026-03-01', 2],
    ['2026-03-02', 2],
    ['2026-03-03', 0],
  ])
  t.same(await completedBy('?from=2026-03-02T01:00:00%2B02:00&to=2026-03-01T23:59:59Z'), [['2026-03-01', 2]])
  const month = await completedBy('?to=2026-03-02')
  t.same([month?.length, month?.[0], month?.at(-1)], [30, ['2026-02-01', 0], ['2026-03-02', 2]])
  t.equal((await completedBy('?from=2026-01-01&to=2026-04-10'))?.length, 100)
  t.equal((await completedBy('?to=0001-01-02'))?.length, 30)
  t.notOk('days' in (await usage('')).data!, 'nothing is added unless it is requested')
})

// Contract: Usage by day
t.test('usage by day: rejects ranges that are none, or longer than 100 days', async (t) => {
  const { usage } = await newAccount()
  for (const [query, field, message] of [
    ['?from=2026-01-01&to=2026-04-11', 'from', /^must be at most 99 days before to/],
    ['?from=2026-01-01', 'from', /^must be at most 99 days before to, by default today/],
    ['?from=9999-01-01', 'from', /^must not be after to, by default today/],
    ['?from=2026-01-02&to=2026-01-01', 'to', /^must not be before from/],
    ['?from=yesterday', 'from', /^must be an ISO 8601 date/],
  ] as const)
    t.match(await usage(query), { status: 422, details: { [field]: [message] } }, query)
})

t.test('usage by day: days are removed after 400 days, in batches', async (t) => {
  const { accountId } = await createTenant(database)
  await database.query('delete from usage_day')
  await database.query(
    `insert into usage_day select $1, (now() at time zone 'utc')::date - n, 'completed', 1 from generate_series(390, 700) as n`,
    [accountId],
  )
  const removed: unknown[] = []
  const events = { rowsRemoved: (...each: unknown[]) => void removed.push(each) }
  t.equal(await removeExpiredRows({ database, events }), true, 'there is more')
  t.equal(await removeExpiredRows({ database, events }), false)
  t.same(removed, [
    ['usage_day', 200],
    ['usage_day', 100],
  ])
  t.match(await database.query('select count(*)::integer as days from usage_day'), [{ days: 11 }])
})
