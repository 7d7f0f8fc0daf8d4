import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const { database, baseUrl } = await startGateway(t)
const limit = 3
const smallest = defaultPlans[0]!

const inForce = (perMinute: number) =>
  replacePlans(database, [...defaultPlans, { ...smallest, slug: 'small', rate_limit_per_minute: perMinute }])

/** Waits for the first 45 seconds of a minute, so that at most one minute ends during the test. */
const awayFromMinuteEnd = () =>
  eventually(() => Date.now() % 60_000 < 45_000, { withinMs: 20_000, what: 'a minute that has begun' })

// Contract: 429 body
// Contract: Rate headers
t.test(
  'gateway refusals: a used-up minute is refused uncounted, with exact headers, until the plan allows more',
  async (t) => {
    await inForce(limit)
    const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan: 'small' })
    const { key } = await createKey(database, { accountId: id, name: 'key', domains: [], pepper: testPepper })
    const create = (body: unknown) =>
      fetch(`${baseUrl}/v1/screenshots`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const counted = async () => {
      const rows = await database.query<{ requests: number }>(
        'select requests from account_meter where account_id = $1',
        [id],
      )
      return rows[0]?.requests
    }
    await awayFromMinuteEnd()
    for (let count = 0; count < limit; count += 1) t.equal((await create({ url: 'https://example.com/' })).status, 202)
    const first = await create({ url: 'https://example.com/' })
    t.equal(first.status, 429)
    // The cached refusal expires after a second; a request that was counted again is repeated.
    let again = first
    await eventually(async () => {
      const before = await counted()
      again = await create({ nonsense: true })
      return (await counted()) === before
    })
    t.equal(again.status, 429, 'refused before its parameters are validated')
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-usage-remaining']) {
      t.equal(again.headers.get(name), first.headers.get(name), name)
    }
    t.equal(again.headers.get('x-ratelimit-remaining'), '0')
    const retryAfter = Number(again.headers.get('retry-after'))
    t.ok(retryAfter >= 1 && retryAfter <= Number(first.headers.get('retry-after')))
    t.match(await again.json(), { error: { code: 'RATE_LIMIT_EXCEEDED', status: 429, retry_after: retryAfter } })
    await inForce(1000)
    await eventually(async () => (await create({ url: 'https://example.com/' })).status === 202, { withinMs: 5000 })
  },
)
