import t from 'tap'
import { createKey } from '#shared/db/keys.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { createTenant } from '#test/helpers/tenant.ts'

const perMinute = 50
const quota = 120
const clients = 200

const gateway = await startGateway(t)
const replicas = [gateway, await gateway.startReplica(), await gateway.startReplica()]
const { database } = gateway

/** Waits until all clients fit in the minute, and past the second for which gateways cache a used-up minute. */
const awayFromMinuteEnd = () =>
  database.query(`select pg_sleep(case when extract(second from clock_timestamp()) >= 51
    then 60.05 - extract(second from clock_timestamp()) else 1.05 end)`)

const count = (statuses: readonly number[]) => {
  const counts: Record<number, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const downFrom = (most: number, many: number) => Array.from({ length: many }, (_, n) => String(most - n))

// Contract: Minute limit
t.test('exact limits: three gateways together accept exactly the minute limit and exactly the quota', async (t) => {
  const tenant = await createTenant(database, { screenshots_per_month: quota, rate_limit_per_minute: perMinute })
  const keyInput = { accountId: tenant.accountId, name: '', domains: [], pepper: testPepper }
  const { key } = await createKey(database, keyInput)
  const create = async (turn: number) => {
    const response = await fetch(`${replicas[turn % 3]!.baseUrl}/v1/screenshots`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: `https://example.com/${turn}` }),
    })
    await response.body?.cancel()
    const header = (name: string) => response.headers.get(name) ?? ''
    return { status: response.status, rate: header('x-ratelimit-remaining'), usage: header('x-usage-remaining') }
  }

  let left = quota
  for (const expected of [
    { 202: 50, 429: 150 },
    { 202: 50, 429: 150 },
    { 202: 20, 402: 30, 429: 150 },
    { 402: 50, 429: 150 },
  ]) {
    await awayFromMinuteEnd()
    const answers = await Promise.all(Array.from({ length: clients }, (_, turn) => create(turn)))
    t.same(count(answers.map(({ status }) => status)), expected)
    const passed = answers.filter(({ status }) => status !== 429)
    const numbers = (which: 'rate' | 'usage', some: typeof answers) =>
      some.map((answer) => answer[which]).toSorted((a, b) => Number(b) - Number(a))
    t.same(
      numbers('rate', passed),
      downFrom(perMinute - 1, perMinute),
      'each remaining count of the minute is reported once',
    )
    const accepted = answers.filter(({ status }) => status === 202)
    t.same(
      numbers('usage', accepted),
      downFrom(left - 1, accepted.length),
      'each remaining count of the quota is reported once',
    )
    left -= accepted.length
    // Start the next window without waiting for it.
    const next = `update account_meter set minute = minute - interval '1 minute' where account_id = $1`
    await database.query(next, [tenant.accountId])
  }
  const stored = `select (select count(*)::integer from capture where account_id = $1) as captures, reserved::integer,
    settled::integer
    from usage where account_id = $1`
  t.same(await database.query(stored, [tenant.accountId]), [{ captures: quota, reserved: quota, settled: 0 }])
})
