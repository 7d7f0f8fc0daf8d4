import t from 'tap'
import { adminDocument } from '#gateway/admin/admin-document.ts'
import { adminRoutes } from '#gateway/admin/admin-routes.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { pairsOf } from '#test/helpers/contract.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway } from '#test/helpers/running-gateway.ts'
import { validateResponses } from '#test/helpers/validate-responses.ts'

const token = 'a-token-of-the-administration'
const gateway = await startGateway(t, { ADMIN_TOKEN: token, ADMIN_PORT: '0', CONSOLE_OPERATORS: 'true' })
const adminUrl = gateway.adminUrl ?? ''
const document = adminDocument()
const { coveredResponses } = validateResponses(t, adminUrl, document)
await replacePlans(gateway.database, defaultPlans)

type Parameter = {
  readonly name: string
  readonly in: string
  readonly examples?: { readonly default?: { readonly value?: unknown } }
}
type Described = {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example: object } } }
}
type Answer = { readonly status: number; readonly body: { readonly data: Readonly<Record<string, string>> } }

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation: operation as Described,
  })),
)

const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
  const response = await fetch(adminUrl + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text || '{}') as Answer['body'] }
}

/** The example of the query, but for ids, which no record has. */
const queryOf = ({ parameters = [] }: Described): string =>
  parameters
    .filter(({ in: place, examples }) => place === 'query' && examples?.default?.value !== undefined)
    .map(({ name, examples }) => `${name}=${encodeURIComponent(String(examples?.default?.value))}`)
    .join('&')

const newAccount = async () => {
  const account = { name: 'A', email: 'a@example.com', plan: 'unlimited' }
  const { id = '' } = (await send('POST', '/admin/v1/accounts', account)).body.data
  const { id: keyId = '', key = '' } = (await send('POST', `/admin/v1/accounts/${id}/keys`, {})).body.data
  let answer: Answer['body'] | undefined
  const create = async () => {
    const response = await fetch(`${gateway.baseUrl}/v1/screenshots`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'https://example.com/' }),
    })
    answer = (await response.json()) as Answer['body']
    return response.ok
  }
  // A gateway that has read the switch while it was on reads it again a second later.
  await eventually(create, { what: 'a capture is accepted', everyMs: 200 })
  return { id, keyId, captureId: answer?.data['id'] ?? '' }
}

t.test('admin document: every operation accepts its documented example, and responds as documented', async (t) => {
  for (const { path, method, operation } of operations) {
    const { id, keyId, captureId } = await newAccount()
    const ids: Readonly<Record<string, string>> = { accounts: id, keys: keyId, captures: captureId, pools: 'standard' }
    const url = path.replaceAll(/(\w+)\/\{id\}/g, (_all, noun: string) => `${noun}/${ids[noun] ?? ''}`)
    const body = operation.requestBody?.content['application/json'].example
    const { status, body: answer } = await send(method, `${url}?${queryOf(operation)}`, body)
    t.ok(status === 200 || status === 204, `${operation.operationId}: ${status} ${JSON.stringify(answer)}`)
    if (operation.operationId === 'set_maintenance') await send('PUT', '/admin/v1/maintenance', { on: false })
  }
  const successes = pairsOf(document).filter((pair) => / 20[04]$/.test(pair))
  t.same(
    successes.filter((pair) => !coveredResponses.has(pair)),
    [],
  )
  t.ok(successes.length >= 20)
})

t.test('admin document: bodies that violate it are refused as it says', async (t) => {
  for (const { path, method, operation } of operations.filter(({ operation: { requestBody } }) => requestBody)) {
    const { id, keyId } = await newAccount()
    const url = path.replace('accounts/{id}', `accounts/${id}`).replace('keys/{id}', `keys/${keyId}`)
    t.equal((await send(method, url, { unknown: 1 })).status, 422, operation.operationId)
    t.equal((await send(method, url, [])).status, 422, operation.operationId)
    t.equal((await send(method, url)).status, 400, operation.operationId)
  }
})

t.test(
  'admin document: is served with its page without a token, on the port of the administration alone',
  async (t) => {
    const get = (path: string) => fetch(adminUrl + path)
    const served = await get('/admin/v1/openapi.json')
    t.strictSame(await served.json(), JSON.parse(JSON.stringify(document)))
    t.match(served.headers.get('cache-control'), 'public, max-age=300')
    t.equal(served.headers.get('access-control-allow-origin'), null)
    const page = await get('/admin/v1/docs')
    t.match(await page.text(), '<title>Shutterfleet administration reference</title>')
    t.equal(
      page.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    const script = await get('/admin/v1/docs/reference.js')
    t.match([script.status, script.headers.get('content-type')], [200, /^text\/javascript/])
    t.match(await script.text(), "Scalar.createApiReference('#reference'")
    t.match((await get('/admin/favicon.ico')).headers.get('content-type'), 'image/svg+xml')
    for (const path of ['/admin/v1/openapi.json', '/admin/v1/docs'])
      t.equal((await fetch(gateway.baseUrl + path)).status, 404, path)
  },
)

t.test('admin document: its page lists every operation, and sends requests with the token', async (t) => {
  await using browser = await startBareBrowser()
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  page.setDefaultTimeout(100_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(`${adminUrl}/admin/v1/docs`)
  await page.getByRole('link', { name: 'Introduction' }).waitFor()
  const text = (await page.textContent('body')) ?? ''
  for (const { summary } of adminRoutes) t.ok(text.includes(summary), summary)
  await page.goto(`${adminUrl}/admin/v1/docs#tag/service/GET/admin/v1/maintenance`)
  const button = page.getByRole('button', { name: /test request/i })
  await button.filter({ hasText: '(get /admin/v1/maintenance)' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByPlaceholder('Token').fill(token)
  const answered = page.waitForResponse((response) => response.url() === `${adminUrl}/admin/v1/maintenance`)
  await dialog.getByRole('button', { name: /^Send \w+ request/ }).click()
  t.equal((await answered).status(), 200)
  t.same(complaints, [])
})
