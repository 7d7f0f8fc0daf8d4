import t from 'tap'
import { createAccount, setDisabled } from '#shared/db/accounts.ts'
import { changeKey, createKey, revokeKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import type { PlanEntry } from '#shared/db/read-plans.ts'
import { catalog } from '#shared/errors/catalog.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { sendJson } from '#test/helpers/console-client.ts'
import { createRawClient } from '#test/helpers/raw-client.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const gateway = await startGateway(t, { ADMIN_PORT: '0', ADMIN_TOKEN: 'a-token-of-the-operator' })
const { database, baseUrl } = gateway
const { price_monthly: _price, currency: _currency, ...unpriced } = defaultPlans[0]!
// It has what the first request below uses, but is not on offer.
const special: PlanEntry = {
  ...unpriced,
  slug: 'special',
  name: 'Special',
  features: ['retina', 'dark_mode', 'geolocation'],
}
await replacePlans(database, [...defaultPlans, special])

const url = 'https://example.com/'
const missing = '99999999-9999-4999-8999-999999999999'

const newKey = async (plan = 'unlimited', domains: string[] = []) => {
  const { id: accountId } = await createAccount(database, { name: 'Acme', email: 'a@example.com', plan })
  return { accountId, ...(await createKey(database, { accountId, name: 'k', domains, pepper: testPepper })) }
}
const send = (key: string, method: string, path: string, { body, origin }: { body?: unknown; origin?: string } = {}) =>
  sendJson(`${baseUrl}/v1${path}`, method, {
    body,
    headers: { authorization: `Bearer ${key}`, ...(origin !== undefined && { origin }) },
  })
const errorOf = async (answer: Response) => {
  const { error } = (await answer.json()) as { error: { code: string; message: string; doc_url: string } }
  return error
}
const messageOf = async (...request: Parameters<typeof send>) => (await errorOf(await send(...request))).message

// Contract: Messages of errors
t.test('messages: who holds a key reads why it is refused, and a wrong key is unknown', async (t) => {
  const [expired, revoked, disabled] = [await newKey(), await newKey(), await newKey()]
  const at = new Date('2026-01-31T12:00:00Z')
  await changeKey(database, expired.id, { expiresAt: at })
  await revokeKey(database, revoked.id)
  await setDisabled(database, disabled.accountId, true)
  for (const [method, path, more] of [
    ['GET', '/account', {}],
    ['POST', '/screenshots', { body: { url } }],
  ] as const) {
    const read = (key: string) => messageOf(key, method, path, more)
    t.equal(await read(expired.key), 'The API key expired at 2026-01-31T12:00:00.000000Z.')
    t.match(await read(revoked.key), /^The API key was revoked at 20\S+Z\.$/)
    t.equal(await read(disabled.key), 'The account of the API key is disabled.')
    const wrong = [expired, revoked, disabled].map(({ key }) => `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`)
    for (const key of wrong) t.equal(await read(key), 'There is no such API key.')
  }
})

// Contract: Messages of errors
t.test('messages: a request from a wrong domain, and one without a domain, are told apart', async (t) => {
  const { key } = await newKey('unlimited', ['shop.example', '*.shop.example'])
  const allowed = 'The API key may be used from pages of `shop.example`, `*.shop.example` only'
  const none = `${allowed}; the request has no \`Origin\` or \`Referer\` header with a host.`
  t.equal(await messageOf(key, 'GET', '/account'), none)
  t.equal(await messageOf(key, 'POST', '/screenshots', { body: { url } }), none)
  t.equal(await messageOf(key, 'GET', '/account', { origin: 'null' }), none)
  const more = { body: { url }, origin: 'https://evil.example' }
  t.equal(await messageOf(key, 'POST', '/screenshots', more), `${allowed}; this one is of \`evil.example\`.`)
  const many = await newKey(
    'unlimited',
    Array.from({ length: 8 }, (_, n) => `d${n}.example`),
  )
  t.match(
    await messageOf(many.key, 'GET', '/account'),
    'pages of `d0.example`, `d1.example`, `d2.example`, `d3.example`, `d4.example` and 3 more only',
  )
})

// Contract: Messages of errors
t.test('messages: all missing features are named, and the cheapest plan on offer that has them', async (t) => {
  const { key } = await newKey('free')
  const post = async (body: object, path = '/screenshots') => {
    await database.query('update account_meter set requests = 0')
    return messageOf(key, 'POST', path, { body })
  }
  const geolocation = { latitude: 1, longitude: 2 }
  t.equal(
    await post({ url, dark_mode: true, geolocation, retina: true }),
    'The features `retina`, `dark_mode`, `geolocation` are not part of the plan; the plan Growth has them.',
  )
  t.equal(await post({ url, retina: true }), 'The feature `retina` is not part of the plan; the plan Starter has it.')
  t.equal(
    await post({ urls: [url], dark_mode: true }, '/screenshots/batch'),
    'The features `batch`, `dark_mode` are not part of the plan; the plan Pro has them.',
  )
  t.equal(
    await post({ url: `${url}hook` }, '/webhooks'),
    'The feature `webhooks` is not part of the plan; the plan Starter has it.',
  )
  t.equal(
    await post({}, `/screenshots/${missing}/signed-url`),
    'The feature `signed_urls` is not part of the plan; the plan Pro has it.',
  )
  await database.query('update plan set price_monthly = null')
  t.equal(await post({ url, retina: true }), 'The feature `retina` is not part of the plan.', 'none is on offer')
  await replacePlans(database, [...defaultPlans, special])
})

// Contract: Messages of errors
// Contract: Another account's id, malformed id
t.test(
  'messages: an unknown id is named, as one of another account and a malformed one, and a wrong path is not one',
  async (t) => {
    const [{ key }, other] = [await newKey(), await newKey()]
    const ofOther = (await (await send(other.key, 'POST', '/screenshots', { body: { url } })).json()) as {
      data: { id: string }
    }
    for (const id of [missing, ofOther.data.id, 'x%20y']) {
      const shown = `\`${decodeURIComponent(id)}\``
      for (const [method, path, noun] of [
        ['GET', `/screenshots/${id}`, 'screenshot'],
        ['DELETE', `/screenshots/${id}`, 'screenshot'],
        ['GET', `/screenshots/${id}/image`, 'screenshot'],
        ['GET', `/screenshots/batch/${id}`, 'batch'],
        ['GET', `/webhooks/${id}`, 'webhook'],
        ['DELETE', `/keys/${id}`, 'key'],
      ] as const)
        t.equal(await messageOf(key, method, path), `There is no ${noun} ${shown}.`)
      const delivery = `There is no delivery \`${missing}\` of the webhook ${shown}.`
      t.equal(await messageOf(key, 'POST', `/webhooks/${id}/deliveries/${missing}/redeliver`), delivery)
    }
    t.equal(
      await messageOf(key, 'GET', `/screenshots/${'a'.repeat(5000)}`),
      `There is no screenshot \`${'a'.repeat(100)}\`.`,
    )
    t.equal(await messageOf(key, 'GET', '/nothing'), 'The path does not exist; the reference is at /v1/docs.')
    t.match(await messageOf(key, 'GET', '/screenshots/?page=1'), 'does not exist with a slash at its end;')
  },
)

// Contract: Messages of errors
t.test('messages: each error links its section of the page with the errors', async (t) => {
  const { key } = await newKey()
  const { code, doc_url: docUrl } = await errorOf(await send(key, 'GET', `/screenshots/${missing}`))
  t.equal(docUrl, `${baseUrl}/v1/docs/errors#${code}`)
  const page = await fetch(docUrl)
  t.equal(page.status, 200)
  t.match(page.headers.get('content-security-policy'), /^default-src 'none'/)
  const html = await page.text()
  for (const each of Object.keys(catalog)) t.match(html, `<h3 id="${each}">`)
  t.equal((await fetch(docUrl, { headers: { 'if-none-match': page.headers.get('etag') ?? '' } })).status, 304)

  const unserved = await errorOf(await send(key, 'PUT', '/screenshots'))
  t.equal(unserved.doc_url, `${baseUrl}/v1/docs/errors#METHOD_NOT_ALLOWED`)
  const admin = await errorOf(await fetch(`${gateway.adminUrl}/admin/v1/accounts`))
  t.equal(admin.doc_url, `${baseUrl}/v1/docs/errors#${admin.code}`)
  const unreadable = await createRawClient(t, baseUrl).send('not http\r\n\r\n')
  t.match(unreadable?.body, `"doc_url":"${baseUrl}/v1/docs/errors#BAD_REQUEST"`)
})
