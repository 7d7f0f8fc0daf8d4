import t from 'tap'
import { runLedger } from '#ledger/app.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTestLedger, openQueue } from '#test/helpers/ledger.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { type Behaviour, startStandInFleet } from '#test/helpers/stand-in-fleet.ts'
import { reportStart } from '#test/helpers/worker-reports.ts'

// Capture outcomes from request to record over a real gateway and ledger; only the workers are stand-ins.

const image = Buffer.from('the bytes of an image')
const gateway = await startGateway(t)
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)
const stop = new AbortController()
const ledger = createTestLedger(database, await openQueue(t, gateway.nats.url))
const ready = Promise.withResolvers<void>()
const running = runLedger(ledger, stop.signal, ready.resolve)
await Promise.race([ready.promise, running])

const pages: Readonly<Record<string, Behaviour>> = {
  'https://example.com/missing': { image, targetStatus: 404 },
  'https://example.com/broken': { image, targetStatus: 503 },
  'https://example.com/late': { fails: 'TIMEOUT' },
  'https://example.com/never': 'nothing',
}
const fleet = startStandInFleet(gateway, ({ options }) => pages[options.url ?? ''] ?? { image }, { commits: false })
t.teardown(async () => {
  await fleet[Symbol.asyncDispose]()
  stop.abort()
  await running
})

type Answer = {
  data: Record<string, unknown> & { id: string; url: string }
  error: { code: string; details?: Record<string, string[]> }
}
const json = async (answer: Response) => (await answer.json()) as Answer

const { id: accountId } = await createAccount(database, { name: 'T', email: 't@example.com', plan: 'unlimited' })
const { key } = await createKey(database, { accountId, name: 'key', domains: [], pepper: testPepper })
const ask = (method: string, path: string, base = baseUrl) =>
  fetch(`${base}/v1/screenshots${path}`, { method, headers: { authorization: `Bearer ${key}` } })
const post = (path: string, body: object) =>
  fetch(`${baseUrl}/v1/screenshots${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const create = async (body: object) => (await json(await post('', body))).data.id
const record = async (id: string) => (await json(await ask('GET', `/${id}`))).data
const ended = async (id: string) => {
  await eventually(async () => ['completed', 'failed'].includes(String((await record(id))['status'])))
  return await record(id)
}
const detailsOf = async (answer: Response) => {
  const { error } = await json(answer)
  return { status: answer.status, code: error.code, details: error.details ?? {} }
}
const url = 'https://example.com/'

// Contract: Target 4xx/5xx page
t.test(
  "capture outcomes: an error page of the target is a completed, charged capture that reports the page's status",
  async (t) => {
    const settled = async () => {
      const rows = await database.query<{ settled: number }>(
        'select settled::integer from usage where account_id = $1',
        [accountId],
      )
      return rows[0]?.settled ?? 0
    }
    const before = await settled()
    for (const [page, status] of [
      ['missing', 404],
      ['broken', 503],
    ] as const) {
      const answer = await post('/capture', { url: `${url}${page}` })
      t.same([answer.status, Buffer.from(await answer.arrayBuffer())], [200, image])
      t.equal(answer.headers.get('x-target-status'), String(status))
      const shown = await record(answer.headers.get('x-screenshot-id') ?? '')
      t.match(shown, { status: 'completed', target_status: status })
      t.notOk('error' in shown)
    }
    t.equal(await settled(), before + 2)
    const charges = 'select distinct charge from capture where account_id = $1'
    t.same(await database.query(charges, [accountId]), [{ charge: 'settled' }])
  },
)

// Contract: `omit_background` with another format
t.test('capture outcomes: a transparent background is refused by name for formats without transparency', async (t) => {
  for (const format of ['jpeg', 'avif', 'tiff', 'pdf']) {
    const { status, code, details } = await detailsOf(await post('', { url, format, omit_background: true }))
    t.match([status, code, details['omit_background']], [422, 'VALIDATION_ERROR', [/png or webp/]], format)
  }
  for (const format of ['png', 'webp']) {
    t.equal((await post('', { url, format, omit_background: true })).status, 202, format)
  }
})

// Contract: `quality` with png, tiff, pdf
t.test('capture outcomes: quality is accepted with a warning for png, tiff and pdf, not for jpeg', async (t) => {
  const shown = await ended(await create({ url, format: 'png', quality: 40 }))
  t.match(shown, {
    status: 'completed',
    options: { quality: 40 },
    warnings: [{ code: 'quality_ignored', message: /png/ }],
  })
  t.same((await ended(await create({ url, format: 'jpeg', quality: 40 })))['warnings'], [])
  t.same((await ended(await create({ url, format: 'png' })))['warnings'], [])
  for (const format of ['tiff', 'pdf']) {
    t.match((await ended(await create({ url, format, quality: 40 })))['warnings'], [{ code: 'quality_ignored' }])
  }
})

// Contract: Parameters that do not apply
t.test(
  'capture outcomes: inapplicable parameters warn; cookies that cannot reach the target and batch images are refused',
  async (t) => {
    const cookie = { name: 'a', value: 'b' }
    const faults = async (path: string, body: object) => {
      const { status, details } = await detailsOf(await post(path, body))
      return [status, details]
    }
    t.match(await faults('', { html: '<p>', cookies: [{ ...cookie, domain: 'example.com' }, cookie] }), [
      422,
      { 'cookies.1.domain': [/required/] },
    ])
    t.match(await faults('', { url, cookies: [{ ...cookie, domain: 'other.example' }] }), [
      422,
      { 'cookies.0.domain': [/cover/] },
    ])
    t.match(await faults('/batch', { urls: [url], response_type: 'image' }), [422, { response_type: [/json/] }])
    for (const [name, value, format] of [
      ['pdf_landscape', true, 'png'],
      ['pdf_margin_top', '20mm', 'png'],
      ['resize_width', 400, 'pdf'],
    ] as const) {
      const message = new RegExp(`${name} .* ${format}`)
      const { warnings } = await ended(await create({ url, format, [name]: value }))
      t.match(warnings, [{ code: 'parameter_ignored', message }])
    }
    for (const source of ['html', 'markdown']) {
      t.match(await ended(await create({ [source]: '<p>', headers: { 'X-A': 'b' } })), {
        status: 'completed',
        options: { headers: { 'X-A': '***' } },
        warnings: [{ code: 'parameter_ignored', message: new RegExp(`headers .* ${source}`) }],
      })
    }
    t.same((await ended(await create({ url, headers: { 'X-A': 'b' } })))['warnings'], [])
    const shown = await ended(await create({ url, pdf_page_format: 'A4', pdf_landscape: false }))
    t.match(shown, {
      status: 'completed',
      warnings: [{ code: 'parameter_ignored', message: /pdf_page_format .* png/ }],
    })
  },
)

const notPublic = [
  ...['127.0.0.1', '10.0.0.1', '172.16.3.4', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1'],
  ...['198.18.0.1', '255.255.255.255', '2130706433', '0x7f.1', '[::1]', '[::]', '[fe80::1]', '[fd00::1]'],
  ...['[::ffff:10.0.0.1]', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.b.localhost'],
]

// Contract: Error mapping
t.test('capture outcomes: an evidently non-public address is refused in every address field', async (t) => {
  for (const host of notPublic) {
    const body = { url: `http://${host}/`, proxy: `http://${host}:3128`, webhook_url: `https://${host}/in` }
    const { status, code, details } = await detailsOf(await post('', body))
    t.match([status, code], [422, 'VALIDATION_ERROR'], host)
    t.match(details, { url: [/public/], proxy: [/public/], webhook_url: [/public/] }, host)
    const batch = await detailsOf(await post('/batch', { urls: [url, `https://${host}/`] }))
    t.match(batch, { status: 422, details: { 'urls.1': [/public/] } }, host)
  }
})

// Contract: Delete
t.test('capture outcomes: a capture can be deleted in every state, and is then 404 on every gateway', async (t) => {
  const replica = await gateway.startReplica()
  const pending = await create({ url: `${url}never` })
  const processing = await create({ url: `${url}never` })
  await reportStart(gateway.queue, processing)
  const completed = await create({ url })
  const failed = await create({ url: `${url}late` })
  for (const [id, status] of Object.entries({ [pending]: 'pending', [processing]: 'processing' })) {
    await eventually(async () => (await record(id))['status'] === status)
  }
  t.match([await ended(completed), await ended(failed)], [{ status: 'completed' }, { status: 'failed' }])
  for (const id of [pending, processing, completed, failed]) {
    const link = await json(await post(`/${id}/signed-url`, {}))
    t.equal((await ask('DELETE', `/${id}`)).status, 204)
    for (const base of [baseUrl, replica.baseUrl]) {
      const answers = await Promise.all([
        ask('DELETE', `/${id}`, base),
        ...['', '?wait=5', '/image', '/deliveries', '/events'].map((path) => ask('GET', `/${id}${path}`, base)),
        fetch(link.data.url.replace(/^https?:\/\/[^/]+/, base)),
      ])
      t.same(
        answers.map(({ status }) => status),
        answers.map(() => 404),
      )
      for (const answer of answers) t.match(await json(answer), { error: { code: 'NOT_FOUND' } })
    }
    t.equal((await post(`/${id}/signed-url`, {})).status, 404)
  }
})
