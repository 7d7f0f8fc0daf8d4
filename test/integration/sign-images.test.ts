import t from 'tap'
import { defaultPlans } from '#local/default-plans.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { signedCodec } from '#shared/queue/messages.ts'
import { signSubject } from '#shared/queue/subjects.ts'
import { isCaptureObjectKey } from '#shared/storage/objects.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const { baseUrl, database, queue, startReplica } = await startGateway(t)
await replacePlans(database, defaultPlans)
const { id: accountId } = await createAccount(database, { name: 'Test', email: 't@example.com', plan: 'unlimited' })
const { key } = await createKey(database, { accountId, name: 'key', domains: [], pepper: testPepper })

const create = async (): Promise<string> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${baseUrl}/v1/screenshots`, { method: 'POST', headers, body: '{"html":"x"}' })
  return ((await response.json()) as { data: { id: string } }).data.id
}
const sign = async (id: string, pool: Pool = 'standard') =>
  signedCodec.decode((await queue.request(signSubject({ pool, id }), new Uint8Array(), 5000)).data).put
const upload = async (url: string) =>
  (await fetch(url, { method: 'PUT', body: 'image', headers: { 'if-none-match': '*' } })).status

t.test('sign images: an open capture gets further addresses, each for one object', async (t) => {
  const id = await create()
  await startReplica()
  for (const status of ['pending', 'processing']) {
    await database.query('update capture set status = $2 where id = $1', [id, status])
    const [one, two] = [await sign(id), await sign(id)]
    if (!one || !two) return t.fail('not signed')
    t.ok(isCaptureObjectKey(id, one.key))
    t.not(one.key, two.key)
    t.same([await upload(one.url), await upload(one.url), await upload(two.url)], [201, 412, 201])
  }
})

t.test('sign images: nothing is signed for other pools, followers, ended and unknown captures', async (t) => {
  const [id, follower] = [await create(), await create()]
  await database.query('update capture set follows = $1 where id = $2', [id, follower])
  t.equal(await sign(follower), undefined)
  t.equal(await sign(id, 'stealth'), undefined)
  t.equal(await sign(crypto.randomUUID()), undefined)
  await t.rejects(sign('no-uuid'), { code: 'SERVICE_UNAVAILABLE' })
  for (const status of ['completed', 'failed']) {
    await database.query(`update capture set status = $2, part = 'ended' where id = $1`, [id, status])
    t.equal(await sign(id), undefined, status)
  }
})
