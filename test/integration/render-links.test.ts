import { createHash } from 'node:crypto'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey, revokeKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { signRenderLink, type LinkParameters } from '#gateway/links/render-link.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { codeOf, sendJson } from '#test/helpers/console-client.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { type Behaviour, startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const gateway = await startGateway(t, { KEY_FAILURES_PER_MINUTE: '1000', LINK_REQUESTS_BURST: '1000' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

const image = Buffer.from('the bytes of an image')
const pages = new Map<string, Behaviour>()
const fleet = startStandInFleet(gateway, ({ options }) => pages.get(options.url ?? '') ?? { image })
t.teardown(() => fleet[Symbol.asyncDispose]())
const capturedOf = (url: string) => fleet.received.filter(({ part }) => part.options.url === url).length

type Data = Readonly<Record<string, string>>
const dataOf = async (answer: Response): Promise<Data> => ((await answer.json()) as { data: Data }).data

/** An account with a key and its link secret. */
const newSigner = async (plan = 'unlimited', domains: readonly string[] = []) => {
  const { id: accountId } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan })
  const owner = await createKey(database, { accountId, name: 'owner', domains: [], pepper: testPepper })
  const { id: keyId } =
    domains.length === 0
      ? owner
      : await createKey(database, { accountId, name: 'restricted', domains, pepper: testPepper })
  const send = (method: string, path: string, body?: unknown) =>
    sendJson(`${baseUrl}/v1${path}`, method, { body, headers: { authorization: `Bearer ${owner.key}` } })
  const rotate = (body?: object) => send('POST', `/keys/${keyId}/link-secret`, body)
  const { secret = '' } = await dataOf(await rotate())
  const link = (parameters: LinkParameters, by = secret) =>
    `${baseUrl}/v1/render?${signRenderLink(by, { key_id: keyId, ...parameters })}`
  return { accountId, keyId, secret, send, rotate, link }
}

const usedOf = async (accountId: string) => {
  const rows = await database.query<{ used: number }>(
    'select coalesce(sum(reserved + settled), 0)::integer as used from usage where account_id = $1',
    [accountId],
  )
  return rows[0]?.used
}

const ageCaptures = (accountId: string, seconds: number) =>
  database.query(
    `update capture set created_at = created_at - $2 * interval '1 second', completed_at = completed_at - $2 * interval '1 second'
      where account_id = $1`,
    [accountId, seconds],
  )

// Contract: Render links
t.test('render links: the first view captures, the second one shows the same image free of charge', async (t) => {
  const { accountId, link } = await newSigner()
  const address = link({ url: 'https://example.com/first', cache_ttl: '3600' })
  const first = await fetch(address)
  t.same([first.status, Buffer.from(await first.arrayBuffer())], [200, image])
  t.match(Object.fromEntries(first.headers), {
    'content-type': 'image/png',
    etag: `"${createHash('sha256').update(image).digest('hex')}"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'x-cache': 'MISS',
    'x-link-state': 'fresh',
  })
  const [, maxAge] = /^public, max-age=(\d+)$/.exec(first.headers.get('cache-control') ?? '') ?? []
  t.ok(Number(maxAge) > 3500 && Number(maxAge) <= 3600)
  t.equal(first.headers.get('x-usage-reset'), null, 'a viewer learns nothing of the account')

  const second = await fetch(address)
  t.same([second.status, second.headers.get('x-cache')], [200, 'HIT'])
  await second.arrayBuffer()
  const known = await fetch(address, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
  t.equal(known.status, 304)
  const head = await fetch(address, { method: 'HEAD' })
  t.same([head.status, head.headers.get('content-length')], [200, String(image.length)])
  t.same([await usedOf(accountId), capturedOf('https://example.com/first')], [1, 1])
})
