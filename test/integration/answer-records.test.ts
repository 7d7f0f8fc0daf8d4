import { createHash } from 'node:crypto'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { findSealedCapture } from '#shared/db/find-capture.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { renderBody } from '#webhooks/render-body.ts'
import { testRecords } from '#test/helpers/record-seal.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { type Behaviour, startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const image = Buffer.from('the bytes of an image')
const folder = mkdtempSync(join(tmpdir(), 'records-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const logFile = join(folder, 'gateway.log')
const settings = { PUBLIC_URL: 'https://shots.example', LOG_LEVEL: 'debug' }
const gateway = await startGateway(t, settings, undefined, openSync(logFile, 'w'))
const { database, baseUrl } = gateway
await replacePlans(database, defaultPlans)

const truncated = { code: 'truncated', message: 'The page is larger.' }
const newer = { code: 'of_a_later_version', message: 'Something else.' }
const metadata = {
  title: 'Über uns',
  canonical: 'https://example.com/about',
  og: { title: 'T', image: 'https://example.com/i.png', 'image:width': '600' },
}
const pages: Record<string, Behaviour> = {
  'https://example.com/never': 'nothing',
  'https://example.com/late': { fails: 'TIMEOUT' },
  'https://example.com/long': { image, warnings: [truncated, newer] },
  'https://example.com/about': { image, metadata },
  'https://example.com/silent': { image, metadata: {} },
}
const behave = ({ options }: { options: { url?: string } }): Behaviour => pages[options.url ?? ''] ?? { image }
const fleets = [startStandInFleet(gateway, behave), startStandInFleet(gateway, behave, { pool: 'proxied' })]
t.teardown(async () => {
  for (const fleet of fleets) await fleet[Symbol.asyncDispose]()
})

const find = async (ref: { id: string; accountId: string }) => {
  const found = await findSealedCapture(database, ref)
  if (!found) throw new Error(`no capture ${ref.id}`)
  return testRecords.openCapture(found)
}

type Fields = Record<string, unknown>
type Shown = Fields & { id: string; options: Fields }

const newAccount = async () => {
  const { id: accountId } = await createAccount(database, { name: 'T', email: 't@example.com', plan: 'unlimited' })
  const { key } = await createKey(database, { accountId, name: 'key', domains: [], pepper: testPepper })
  const ask = (path: string, body?: object) =>
    fetch(`${baseUrl}/v1${path}`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  const data = async (path: string, body?: object) => ((await (await ask(path, body)).json()) as { data: Shown }).data
  const create = (body: object) => data('/screenshots', body)
  const ended = (id: string) => data(`/screenshots/${id}?wait=30`)
  return { accountId, ask, data, create, ended }
}

const fieldNames = (record: object) => Object.keys(record).toSorted()
const always = ['id', 'status', 'url', 'options', 'created_at']
const ofImage = ['file_size', 'mime_type', 'width', 'height', 'processing_time_ms', 'image_url', 'completed_at']
const added = ['expires_at', 'started_at', 'cached', 'warnings', 'timings', 'target_status', 'final_url']

// Contract: Status record
t.test('answer records: a record has exactly the fields of its state, and none is null', async (t) => {
  const { data, create, ended } = await newAccount()
  const has = (record: object, names: readonly string[], what: string) => {
    t.same(fieldNames(record), names.toSorted(), what)
    t.notOk(Object.values(record).includes(null), `${what}: nothing is null`)
  }
  const created = await create({ url: 'https://example.com/never' })
  has(created, always, 'created')
  has(await data(`/screenshots/${created.id}`), always, 'pending')
  await changeCaptures(database, [created.id], () => ({ change: { attempts: 1, unendedStarts: 1, begins: true } }))
  const begun = await data(`/screenshots/${created.id}`)
  has(begun, [...always, 'started_at'], 'processing')
  t.equal(begun['status'], 'processing')

  const { id } = await create({ url: 'https://example.com/' })
  const done = await ended(id)
  has(done, [...always, ...ofImage, ...added], 'completed')
  t.match(done, {
    id,
    status: 'completed',
    url: 'https://example.com/',
    file_size: image.length,
    mime_type: 'image/png',
    width: 1280,
    height: 800,
    processing_time_ms: 5,
    image_url: `https://shots.example/v1/screenshots/${id}/image`,
    target_status: 200,
    final_url: 'https://example.com/',
    cached: false,
    warnings: [],
    timings: { total: 5 },
  })
  const failed = await ended((await create({ url: 'https://example.com/late' })).id)
  has(failed, [...always, 'started_at', 'completed_at', 'error'], 'failed')
  t.match(failed, { status: 'failed', error: { code: 'TIMEOUT', message: 'as the test wants' } })

  const batch = (await data('/screenshots/batch', { urls: ['https://example.com/'] })) as Shown & {
    screenshots: [{ id: string }]
  }
  const member = await ended(batch.screenshots[0].id)
  has(member, [...always, ...ofImage, ...added, 'batch_id'], 'of a batch')
  t.equal(member['batch_id'], batch.id)

  const first = await ended((await create({ url: 'https://example.com/kept', cache_ttl: 60 })).id)
  const hit = await ended((await create({ url: 'https://example.com/kept', cache_ttl: 60 })).id)
  t.same([first['cached'], hit['cached'], fieldNames(hit)], [false, true, fieldNames(first)])
})

// Contract: `url` for html/markdown sources
t.test('answer records: html sources are shown by kind, size and digest; their text appears nowhere', async (t) => {
  const { accountId, ask, create, ended } = await newAccount()
  const html = '<p>gänzlich geheim</p>'
  const shown = {
    source: 'html',
    source_bytes: Buffer.byteLength(html),
    source_sha256: createHash('sha256').update(html).digest('hex'),
  }
  const created = await create({ html, webhook_url: 'https://hooks.example.com/' })
  t.match(created, { url: null, options: shown })
  const done = await ended(created.id)
  t.match(done, { status: 'completed', url: null, options: shown })
  const list = await (await ask('/screenshots')).text()
  const flat = await (await ask('/screenshots/capture', { html, webhook_url: 'https://hooks.example.com/' })).text()
  t.match(JSON.parse(flat), { url: null, status: 'pending' })
  const capture = await find({ id: created.id, accountId })
  const delivery = { event: 'screenshot.completed', eventData: null, sentAt: '' }
  const body = renderBody(delivery, capture, 'https://shots.example') ?? ''
  t.match(JSON.parse(body), { data: { url: null, options: shown } })
  const rows = await database.query('select to_jsonb(c)::text from capture c where account_id = $1', [accountId])
  t.equal(rows.length, 2)
  const all = [JSON.stringify([created, done, rows]), list, flat, body, readFileSync(logFile, 'utf8')].join()
  t.notMatch(all, /geheim/)
})

// Contract: Secrets in `options`
t.test(
  'answer records: secrets are masked in records, webhooks and logs; the flat response keeps the webhook URL whole',
  async (t) => {
    const { accountId, ask, create, data, ended } = await newAccount()
    const url = 'https://user:s3cr3t1@example.com/'
    const webhook = 'https://hooks:s3cr3t2@hooks.example.com/in?token=s3cr3t3'
    const proxy = 'http://name:s3cr3t4@proxy.example.com:3128'
    const masked = {
      url: 'https://user:***@example.com/',
      options: {
        proxy: 'http://name:***@proxy.example.com:3128',
        webhook_url: 'https://hooks:***@hooks.example.com/in?***',
      },
    }
    const body = { url, proxy, webhook_url: webhook }
    const created = await create(body)
    t.match(created, masked)
    t.match(await ended(created.id), { ...masked, status: 'completed' })
    const batch = await data('/screenshots/batch', { urls: [url], proxy, webhook_url: webhook })
    t.match(batch, { screenshots: [masked] })
    const json = await data('/screenshots/capture', { url, proxy, response_type: 'json' })
    t.match(json, { url: masked.url, options: { proxy: masked.options.proxy } })
    const texts = [created, batch, json].map((each) => JSON.stringify(each))
    for (const path of [
      '',
      `/${created.id}`,
      `/${created.id}/events`,
      `/batch/${batch.id}`,
      `/${created.id}/deliveries`,
    ])
      texts.push(await (await ask(`/screenshots${path}`)).text())
    const secret = { headers: { 'X-Key': 's3cr3t5' }, cookies: [{ name: 'a', value: 's3cr3t6' }] }
    const endedCapture = await ended((await create({ url, ...secret })).id)
    t.match(endedCapture, { options: { headers: { 'X-Key': '***' }, cookies: [{ name: 'a', value: '***' }] } })
    texts.push(JSON.stringify(endedCapture))

    const flat = (await (await ask('/screenshots/capture', body)).json()) as Fields
    t.match(flat, { url: masked.url, webhook_url: webhook })
    texts.push(JSON.stringify({ ...flat, webhook_url: '' }))
    const delivery = { event: 'screenshot.completed', eventData: null, sentAt: '' }
    const capture = await find({ id: created.id, accountId })
    const webhookBody = renderBody(delivery, capture, 'https://shots.example') ?? ''
    t.match(JSON.parse(webhookBody), { data: masked })
    const rows = await database.query<{ options: string }>(
      'select url, options::text from capture where account_id = $1',
      [accountId],
    )
    texts.push(webhookBody, JSON.stringify(rows))
    await eventually(() => readFileSync(logFile, 'utf8').includes(accountId))
    texts.push(readFileSync(logFile, 'utf8'))
    t.notMatch(texts.join(), /s3cr3t/)
  },
)

const effective = { width: 1280, height: 800, format: 'png' }
const named = {
  quality: 80,
  device: 'desktop',
  block_ads: false,
  block_cookies: true,
  dark_mode: false,
  delay: 0,
  timeout: 30,
  retina: false,
  full_page: false,
}

// Contract: Which options are echoed
t.test(
  'answer records: options show supplied and effective values, and the named ones always once completed',
  async (t) => {
    const { create, data, ended } = await newAccount()
    const supplied = { width: 800, format: 'jpeg', quality: 60, delay: 1, full_page: true, retina: false, cache_ttl: 9 }
    for (const [supply, atFirst] of [
      [{}, effective],
      [supplied, { ...effective, ...supplied }],
      [
        { timeout: 30, height: 800 },
        { ...effective, timeout: 30 },
      ],
    ] as const) {
      const created = await create({ url: 'https://example.com/', ...supply })
      t.strictSame(created.options, { ...atFirst })
      t.strictSame((await ended(created.id)).options, { ...named, ...atFirst })
    }
    const never = await create({ url: 'https://example.com/never', delay: 2 })
    t.strictSame((await data(`/screenshots/${never.id}`)).options, { ...effective, delay: 2 })
    const late = await create({ url: 'https://example.com/late', delay: 2 })
    t.strictSame(
      (await ended(late.id)).options,
      { ...effective, delay: 2 },
      'a failed capture shows the options as at creation',
    )
  },
)

/** Every time field of a response body, by its path. */
const timesIn = (value: unknown, path = ''): [string, unknown][] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
    const at = Array.isArray(value) ? path : `${path}.${name}`
    return /_at$|^period_|_end$/.test(name) && each !== null ? [[at, each]] : timesIn(each, at)
  })
}

const areTimes = (t: Test, answer: unknown, names: readonly string[], what: string): string[] => {
  const times = timesIn(answer)
  t.same([...new Set(times.map(([name]) => name))].toSorted(), names.toSorted(), what)
  for (const [name, time] of times) t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/, `${what} ${name}`)
  return times.map(([, time]) => String(time))
}

// Contract: Timestamps
t.test('answer records: every time is in UTC, with microseconds', async (t) => {
  const { ask, create, ended, data } = await newAccount()
  const before = new Date().toISOString()
  const created = await create({ url: 'https://example.com/', webhook_url: 'https://hooks.example.com/' })
  const done = await ended(created.id)
  const after = new Date(Date.now() + 1).toISOString()
  const states = ['created_at', 'started_at', 'completed_at'].map((name) => String(done[name]))
  const inOrder = [before.slice(0, -1), ...states.map((time) => time.slice(0, -1)), after.slice(0, -1)]
  t.same(inOrder.toSorted(), inOrder, 'the times lie between the request and the response')
  areTimes(t, created, ['.created_at'], 'create')
  const times = areTimes(t, done, ['.created_at', '.started_at', '.completed_at', '.expires_at'], 'status')
  t.ok(
    times.some((time) => !time.endsWith('000Z')),
    'times are not truncated to milliseconds',
  )
  areTimes(
    t,
    await ask('/screenshots').then((answer) => answer.json()),
    ['.data.created_at', '.data.started_at', '.data.completed_at', '.data.expires_at'],
    'list',
  )
  const batch = await data('/screenshots/batch', { urls: ['https://example.com/'] })
  areTimes(t, batch, ['.created_at', '.screenshots.created_at'], 'batch')
  areTimes(t, await data(`/screenshots/${created.id}/signed-url`, {}), ['.expires_at'], 'link')
  areTimes(t, await data('/account/usage'), ['.period_start', '.period_end'], 'usage')
  const hook = await data('/webhooks', { url: 'https://hooks.example.com/' })
  areTimes(t, hook, ['.created_at'], 'webhook')
  await data(`/webhooks/${hook.id}/test`, {})
  areTimes(t, await data(`/webhooks/${hook.id}/deliveries`), ['.created_at', '.next_attempt_at'], 'deliveries')
  const flat = await ask('/screenshots/capture', {
    url: 'https://example.com/',
    webhook_url: 'https://hooks.example.com/',
  })
  areTimes(t, await flat.json(), ['.created_at'], 'flat')
  areTimes(t, { reset_at: flat.headers.get('x-usage-reset') }, ['.reset_at'], 'header')
  const events = await (await ask(`/screenshots/${created.id}/events`)).text()
  const sentTimes = [...events.matchAll(/^data: (.*)$/gm)].map(([, text = '']) => timesIn(JSON.parse(text)))
  for (const [name, time] of sentTimes.flat()) t.match(time, /T\d\d:\d\d:\d\d\.\d{6}Z$/, `event ${name}`)
  t.ok(sentTimes.flat().length >= 4)
})

// Contract: Warnings
t.test(
  'answer records: warnings of gateway and worker have a code and a message; unknown codes are passed on',
  async (t) => {
    const { create, ended } = await newAccount()
    const plain = await ended((await create({ url: 'https://example.com/', quality: 80, format: 'jpeg' })).id)
    t.strictSame(plain['warnings'], [])
    const long = await ended((await create({ url: 'https://example.com/long', quality: 80 })).id)
    t.strictSame(long['warnings'], [
      { code: 'quality_ignored', message: 'quality does not apply to png.' },
      truncated,
      newer,
    ])
  },
)

// Contract: Metadata
t.test(
  'answer records: page metadata is in every view of a capture that extracts it, and absent from other captures',
  async (t) => {
    const { accountId, ask, create, data, ended } = await newAccount()
    const about = { url: 'https://example.com/about', extract_metadata: true }
    const first = await ended((await create({ ...about, cache_ttl: 60 })).id)
    t.strictSame(first['metadata'], metadata)
    t.same(Object.keys(first['metadata'] as object), Object.keys(metadata), 'in the order of the contract')
    t.match(first.options, { extract_metadata: true })
    const hit = await ended((await create({ ...about, cache_ttl: 60 })).id)
    t.strictSame([hit['cached'], hit['metadata']], [true, metadata])
    t.strictSame((await data('/screenshots/capture', { ...about, response_type: 'json' }))['metadata'], metadata)
    const silent = await ended((await create({ url: 'https://example.com/silent', extract_metadata: true })).id)
    t.strictSame(silent['metadata'], {}, 'of a page without metadata')
    const without = await ended((await create({ url: 'https://example.com/' })).id)
    t.notOk('metadata' in without)

    const list = (await (await ask('/screenshots')).json()) as { data: Shown[] }
    const listed = new Map(list.data.map((record) => [record.id, record]))
    t.strictSame(
      [first, hit, silent].map(({ id }) => listed.get(id)?.['metadata']),
      [metadata, metadata, {}],
    )
    t.notOk('metadata' in (listed.get(without.id) ?? { metadata }))
    const events = await (await ask(`/screenshots/${first.id}/events`)).text()
    const records = [...events.matchAll(/^data: (.*)$/gm)].map(([, text = '']) => JSON.parse(text) as Fields)
    t.strictSame(records.at(-1)?.['metadata'], metadata)
    const delivery = { event: 'screenshot.completed', eventData: null, sentAt: '' }
    const capture = await find({ id: first.id, accountId })
    const body = JSON.parse(renderBody(delivery, capture, 'https://shots.example') ?? '') as { data: Fields }
    t.strictSame(body.data['metadata'], metadata)
  },
)
