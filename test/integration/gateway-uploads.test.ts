import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { open, readOpeningKey } from '#shared/queue/seal.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { endCaptures } from '#test/helpers/webhook-sender.ts'

const gateway = await startGateway(t, { PUBLIC_URL: 'https://shots.example' })
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

type Fields = Record<string, unknown>
type Body = { data: Fields; error: { code: string; details: Record<string, string[]> } }

const newCaller = async (plan = 'unlimited') => {
  const { id: accountId } = await createAccount(database, { name: 'A', email: 'a@example.com', plan })
  const { key } = await createKey(database, { accountId, name: 'key', domains: [], pepper: testPepper })
  const call = async (method: string, path: string, body?: object, sent: Record<string, string> = {}) => {
    const response = await fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }), ...sent },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status, headers } = response
    return { status, headers, body: JSON.parse(text === '' ? '{}' : text) as Body }
  }
  const listed = async () => {
    const { data }: { data: unknown } = (await call('GET', '/upload-destinations')).body
    return data as readonly Fields[]
  }
  return { accountId, call, listed }
}

const destination = {
  name: 'archive',
  endpoint: 'https://s3.example.com:9000/',
  bucket: 'shots',
  prefix: 'a/',
  access_key_id: 'AKIA',
  secret_access_key: 'se/cr+et',
}
const unknown = '00000000-0000-4000-8000-000000000000'
const url = 'https://example.com/'

// Contract: Upload destinations
t.test(
  'gateway uploads: a destination is created, listed, tested and deleted; its secret is never returned',
  async (t) => {
    const { call, listed } = await newCaller()
    const created = await call('POST', '/upload-destinations', destination)
    t.equal(created.status, 200)
    const { secret_access_key: secret, ...shown } = destination
    const { id, created_at: createdAt, ...fields } = created.body.data
    t.strictSame(fields, { ...shown, endpoint: 'https://s3.example.com:9000', region: 'us-east-1', path_style: true })
    t.match(createdAt, /Z$/)
    t.notMatch(JSON.stringify([created, await listed()]), secret)

    const tested = await call('POST', `/upload-destinations/${String(id)}/test`)
    t.match(tested, { status: 202, body: { data: { id: /^[0-9a-f-]{36}$/ } } })
    const last = { status: 'pending', attempts: 0, http_status: null, error: null }
    t.match(await listed(), [{ id, last_upload: last }])

    t.equal((await call('DELETE', `/upload-destinations/${String(id)}`)).status, 204)
    t.strictSame(await listed(), [])
    t.strictSame(await database.query('select from webhook_delivery where upload_destination_id = $1', [id]), [])
    for (const [method, rest] of [
      ['DELETE', ''],
      ['POST', '/test'],
    ] as const) {
      t.equal((await call(method, `/upload-destinations/${String(id)}${rest}`)).status, 404)
    }
  },
)

t.test('gateway uploads: a secret is stored sealed to the sender', async (t) => {
  const { call } = await newCaller()
  const { id } = (await call('POST', '/upload-destinations', destination)).body.data
  const [row] = await database.query<{ sealed_secret: Buffer; text: string }>(
    'select sealed_secret, d::text as text from upload_destination d where id = $1',
    [id],
  )
  t.notMatch(row?.text, destination.secret_access_key)
  const key = readOpeningKey(gateway.webhookOpeningKey)
  t.equal(open([key], String(id), row?.sealed_secret ?? Buffer.alloc(0)).toString(), destination.secret_access_key)
})

// Contract: Upload destinations
t.test(
  'gateway uploads: a name is used once, an account has at most 10 destinations, and its plan webhooks',
  async (t) => {
    const { call } = await newCaller()
    const create = (name: string) => call('POST', '/upload-destinations', { ...destination, name })
    for (let at = 0; at < 10; at += 1) t.equal((await create(`d${at}`)).status, 200)
    t.match(await create('d0'), { status: 422, body: { error: { details: { name: [/another destination/] } } } })
    t.match(await create('d10'), { status: 422, body: { error: { details: { name: [/at most 10/] } } } })
    const free = await newCaller('free')
    const refused = await free.call('POST', '/upload-destinations', destination)
    t.match(refused, { status: 403, body: { error: { code: 'FEATURE_NOT_AVAILABLE' } } })
  },
)

t.test('gateway uploads: fields that are not valid are named', async (t) => {
  const { call } = await newCaller()
  const bad = {
    name: 'a b',
    endpoint: 'https://10.0.0.1',
    bucket: 'A',
    region: 'x y',
    prefix: '../',
    access_key_id: '',
  }
  const { status, body } = await call('POST', '/upload-destinations', { ...destination, ...bad })
  t.equal(status, 422)
  t.strictSame(Object.keys(body.error.details).toSorted(), Object.keys(bad).toSorted())
  const { secret_access_key: _, ...without } = destination
  t.match(await call('POST', '/upload-destinations', without), {
    status: 422,
    body: { error: { details: { secret_access_key: [/required/] } } },
  })
})

// Contract: Idempotency
t.test('gateway uploads: a repeated request replays its capture after its destination was deleted', async (t) => {
  const { call } = await newCaller()
  const { id } = (await call('POST', '/upload-destinations', destination)).body.data
  const post = (path: string, body: object) =>
    call('POST', path, { ...body, upload_to: 'archive' }, { 'idempotency-key': path })
  const sendBoth = async () => [await post('/screenshots', { url }), await post('/screenshots/batch', { urls: [url] })]
  const first = await sendBoth()
  t.equal((await call('DELETE', `/upload-destinations/${String(id)}`)).status, 204)
  for (const [index, { status, headers, body }] of (await sendBoth()).entries()) {
    t.same([status, body.data?.['id']], [202, first[index]?.body.data['id']])
    t.equal(headers.get('idempotent-replayed'), 'true')
  }
  t.equal((await call('POST', '/screenshots', { url, upload_to: 'archive' })).status, 422, 'a new request is refused')
})

// Contract: Upload of images
t.test('gateway uploads: a capture names a destination of its own account, or is rejected', async (t) => {
  const { accountId, call } = await newCaller()
  const other = await newCaller()
  await other.call('POST', '/upload-destinations', destination)
  const rejected = { status: 422, body: { error: { details: { upload_to: [/name of an upload destination/] } } } }
  t.match(await call('POST', '/screenshots', { url, upload_to: 'archive' }), rejected)
  t.match(await call('POST', '/screenshots/batch', { urls: [url], upload_to: 'archive' }), rejected)
  t.strictSame(await database.query('select from capture where account_id = $1', [accountId]), [])

  await call('POST', '/upload-destinations', destination)
  const key = { upload_to: 'archive', upload_key: '{host}/{id}.{format}' }
  const created = await call('POST', '/screenshots', { url, ...key })
  t.match(created, { status: 202, body: { data: { options: key } } })
  t.equal((await call('POST', '/screenshots/batch', { urls: [url], ...key })).status, 202)
  t.match(await call('POST', '/screenshots', { url, upload_key: 'a' }), {
    status: 422,
    body: { error: { details: { upload_key: ['needs upload_to'] } } },
  })
})

// Contract: Upload of images
t.test('gateway uploads: the record shows the upload, and deliveries of the capture its attempts', async (t) => {
  const { call } = await newCaller()
  const { id: destinationId } = (await call('POST', '/upload-destinations', destination)).body.data
  const { id } = (await call('POST', '/screenshots', { url, upload_to: 'archive' })).body.data
  const path = `/screenshots/${String(id)}`
  const uploadOf = async () => (await call('GET', path)).body.data['upload']
  const none = { attempts: 0, http_status: null, error: null }
  t.strictSame(await uploadOf(), { status: 'pending', bucket: null, key: null, ...none })
  await endCaptures(database, [String(id)])
  const key = `a/${String(id)}.png`
  t.strictSame(await uploadOf(), { status: 'pending', bucket: 'shots', key, ...none })
  t.match((await call('GET', `${path}/deliveries`)).body.data, [
    { event: 'screenshot.upload', webhook_id: null, url: 'https://s3.example.com:9000/shots', status: 'pending' },
  ])
  t.equal((await call('GET', '/screenshots')).status, 200)

  await call('DELETE', `/upload-destinations/${String(destinationId)}`)
  const lost = { ...none, error: 'destination_deleted' }
  t.strictSame(await uploadOf(), { status: 'failed', bucket: null, key: null, ...lost })
})

t.test('gateway uploads: a request with an upload counts once towards the minute limit', async (t) => {
  const { call } = await newCaller('starter')
  await call('POST', '/upload-destinations', destination)
  const remaining = async (upload: object) => {
    const { status, headers } = await call('POST', '/screenshots', { url, ...upload })
    t.equal(status, 202)
    return Number(headers.get('x-ratelimit-remaining'))
  }
  const first = await remaining({})
  t.equal(await remaining({ upload_to: 'archive' }), first - 1)
})

t.test('gateway uploads: a destination of another account can be neither tested nor deleted', async (t) => {
  const { call } = await newCaller()
  const other = await newCaller()
  const { id } = (await other.call('POST', '/upload-destinations', destination)).body.data
  for (const each of [String(id), unknown]) {
    t.equal((await call('DELETE', `/upload-destinations/${each}`)).status, 404)
    t.equal((await call('POST', `/upload-destinations/${each}/test`)).status, 404)
  }
  t.equal((await other.listed()).length, 1)
})
