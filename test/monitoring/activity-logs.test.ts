import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOtlpReceiver } from '#test/helpers/otlp-receiver.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const otlp = await startOtlpReceiver()
const hanging = await startOtlpReceiver({ hangs: true })
for (const each of [otlp, hanging]) t.teardown(() => each[Symbol.asyncDispose]())

const startWith = async (url: string) => {
  const gateway = await startGateway(t, { ACTIVITY_LOGS_URL: `${url}/v1/logs` })
  const { database, baseUrl } = gateway
  await replacePlans(database, defaultPlans)
  const { id } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan: 'unlimited' })
  const { id: keyId, key } = await createKey(database, { accountId: id, name: '', domains: [], pepper: testPepper })
  const get = (path: string) => fetch(`${baseUrl}/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
  return { id, keyId, key, get, database }
}

t.test(
  'activity logs: a receiver of OpenTelemetry gets each activity with its key, operation and outcome',
  async (t) => {
    const { id, keyId, key, get } = await startWith(otlp.url)
    await get('/account')
    const unknown = '00000000-0000-4000-8000-000000000000'
    await get(`/screenshots/${unknown}`)
    await eventually(() => otlp.logs.length >= 2)
    const by = {
      'shutterfleet.account.id': id,
      'shutterfleet.key.id': keyId,
      'client.address': '127.0.0.1',
    }
    t.match(
      otlp.logs.toSorted((one, other) => one.at - other.at),
      [
        { severity: 'INFO', body: 'account 200', attributes: { ...by, 'http.response.status_code': '200' } },
        {
          severity: 'WARN',
          body: 'status NOT_FOUND',
          attributes: { ...by, 'error.type': 'NOT_FOUND', 'shutterfleet.object.id': unknown },
        },
      ],
    )
    t.match(otlp.logs[0], { service: 'shutterfleet-gateway', eventName: 'shutterfleet.activity' })
    t.ok(Math.abs((otlp.logs[0]?.at ?? 0) - Date.now()) < 60_000)
    t.notMatch(JSON.stringify(otlp.logs), key)
  },
)

t.test('activity logs: with a receiver that hangs, requests are answered and their activity is stored', async (t) => {
  const { id, get, database } = await startWith(hanging.url)
  for (let nth = 0; nth < 3; nth += 1) t.equal((await get('/account')).status, 200)
  const stored = 'select from activity where account_id = $1'
  await eventually(async () => (await database.query(stored, [id])).length === 3)
})
