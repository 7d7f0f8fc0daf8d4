import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { defaultPlans } from '#local/default-plans.ts'
import { captureParameters, plainReasons } from '#shared/capture/options.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { findPrograms } from '#test/helpers/postgres.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const objects = await mkdtemp(join(tmpdir(), 'objects-'))
t.teardown(() => rm(objects, { recursive: true, force: true }))
const gateway = await startGateway(t, { STORAGE_FOLDER: objects })
const { database, baseUrl, queue } = gateway
await replacePlans(database, defaultPlans)

/** Each parameter that takes a text of the caller's, with a value that can be recognised. */
const telling = {
  url: 'https://example.com/m4rker?q=m4rker',
  pdf_width: '71.2345mm',
  pdf_height: '71.2345mm',
  pdf_page_ranges: '7123-7124',
  pdf_header: 'm4rker',
  pdf_footer: 'm4rker',
  wait_for_selector: '#m4rker',
  wait_for_selector_hidden: '#m4rker',
  wait_for_function: '"m4rker"',
  fail_if_selector_missing: '#m4rker',
  fail_if_selector_present: '#m4rker',
  fail_if_text: 'm4rker',
  selector: '#m4rker',
  click_selector: '#m4rker',
  scroll_to: '#m4rker',
  hide_selectors: ['#m4rker'],
  actions: [{ type: 'select', selector: '#m4rker', value: 'm4rker' }],
  css: '/* m4rker */',
  js: '"m4rker"',
  headers: { 'X-M4rker': 'm4rker' },
  header_origins: ['https://m4rker.example.com'],
  cookies: [{ name: 'm4rker', value: 'm4rker' }],
  local_storage: { m4rker: 'm4rker' },
  session_storage: { m4rker: 'm4rker' },
  block_requests: ['m4rker'],
  user_agent: 'm4rker',
  locale: 'mi-NZ',
  timezone: 'Pacific/Marquesas',
  geolocation: { latitude: 12.345_678, longitude: 12.345_678 },
  proxy: 'http://m4rker.example.com:3128',
  upload_key: 'm4rker/{id}',
}
const recognised = /m4rker|Marquesas|12\.345678|71\.2345|7123-7124|mi-NZ/i

const takesText = ([, schema]: [string, object]) =>
  !('enum' in schema || 'default' in schema) &&
  !('type' in schema && /boolean|integer|number/.test(String(schema.type)))

const setUp = async () => {
  const { id: accountId } = await createAccount(database, { name: 'T', email: 't@example.com', plan: 'unlimited' })
  const { key } = await createKey(database, { accountId, name: 'key', domains: [], pepper: testPepper })
  const send = (path: string, body?: object) =>
    fetch(`${baseUrl}/v1/screenshots${path}`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  const ask = async (path: string, body?: object) =>
    ((await (await send(path, body)).json()) as { data: { id: string; status: string } }).data
  const sendTo = (path: string, body?: object, method = body ? 'POST' : 'GET') =>
    fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  const addDestination = (name: string) =>
    database.query(
      `insert into upload_destination (id, account_id, name, endpoint, region, bucket, path_style, url, prefix, access_key_id,
                                       sealed_secret, created_at)
       values (gen_random_uuid(), $1, $2, '', '', '', true, 'https://s3.example.com/a', '', '', '', now())`,
      [accountId, name],
    )
  return { ask, send, sendTo, addDestination }
}

/** Every row of every table, as text. */
const allRows = async () => {
  const tables = await database.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  )
  const rows = await Promise.all(
    tables.map(({ name }) => database.query<{ text: string }>(`select each::text as text from ${name} each`)),
  )
  return rows.flat().map(({ text }) => text)
}

t.test(
  'sealed records: every parameter with a text is recognised here, stored sealed, or plain for a reason',
  async (t) => {
    const texts = Object.entries(captureParameters.properties).filter(takesText)
    // Sources are not stored at all; a clip is numbers, kinds of resources, outputs and formats are lists of ours.
    const others = [
      'html',
      'markdown',
      'clip',
      'outputs',
      'renditions',
      'block_resources',
      ...plainReasons.map(([name]) => name).filter((name) => !(name in telling)),
    ]
    t.same(
      texts.map(([name]) => name).filter((name) => !others.includes(name)),
      Object.keys(telling),
    )
  },
)

t.test('sealed records: no text of a request stands in a table or a message', async (t) => {
  const messages: string[] = []
  using _seen = queue.subscribe('>', ({ subject, data }) => void messages.push(subject + Buffer.from(data).toString()))
  const { ask, addDestination } = await setUp()
  await addDestination('archive')
  const { id } = await ask('', { ...telling, upload_to: 'archive' })
  const { url, ...others } = { ...telling, upload_to: 'archive' }
  const batch = await ask('/batch', { urls: [url], ...others })
  await eventually(() => messages.filter((each) => each.startsWith('capture.')).length === 2)
  const rows = await allRows()
  t.ok(rows.some((row) => row.includes(id) && row.includes('https://example.com')))
  for (const text of [...rows, ...messages]) t.notMatch(text, recognised)
  for (const path of [`/${id}`, `/batch/${batch.id}`, '']) {
    t.match(JSON.stringify(await ask(path)), /m4rker\?q=m4rker.*Marquesas/, 'its account is shown all of it')
  }
})

const run = promisify(execFile)

/** The files below a folder that contain a text in plain bytes. */
const filesWith = async (folder: string, text: string): Promise<string[]> => {
  const found = await run('grep', ['-rlaiF', text, folder]).catch((error: { code: number; stdout: string }) => {
    if (error.code !== 1) throw error
    return error
  })
  return found.stdout.split('\n').filter(Boolean)
}

/** Where the stores have written: tables and WAL, streams, images, and a dump of the database. */
const stored = async () => {
  await database.query('checkpoint')
  const [row] = await database.query<{ data_directory: string }>('show data_directory')
  const dump = join(objects, 'dump.sql')
  await run(join((await findPrograms()).binaries, 'pg_dump'), [`--file=${dump}`, database.url])
  return [row!.data_directory, gateway.nats.storeFolder, objects]
}

t.test(
  'sealed records: no address of a result or a receiver stands in a store, a dump, a log of changes or a stream',
  async (t) => {
    const { ask, send, sendTo } = await setUp()
    const secret = 'https://hooks.example.com/in?token=m4rker'
    const metadata = {
      title: 'm4rker',
      canonical: 'https://example.com/?m4rker',
      favicon: 'https://example.com/i?m4rker',
      og: { url: 'https://example.com/?m4rker' },
    }
    const finalUrl = 'https://example.com/landed?session=m4rker'
    const warnings = [{ code: 'blank', message: 'https://example.com/?m4rker' }]
    await using _fleet = startStandInFleet(gateway, ({ options }) =>
      options.url?.endsWith('fails')
        ? { fails: 'RENDER_ERROR', message: 'at https://example.com/?m4rker' }
        : { image: Buffer.from('canary'), finalUrl, warnings, metadata },
    )
    const events = ['screenshot.completed', 'screenshot.failed', 'batch.completed', 'webhook.test']
    const made = await sendTo('/webhooks', { url: secret.replace('//', '//user:m4rker@'), events })
    const webhook = (await made.json()) as { data: { id: string } }
    t.match(webhook, { data: { url: 'https://user:***@hooks.example.com/in?***' } })
    const { id } = webhook.data
    for (const path of ['', `/${id}`]) t.notMatch(await (await sendTo(`/webhooks${path}`)).text(), /m4rker/)
    t.equal((await sendTo(`/webhooks/${id}`, { url: 'https://hooks.example.com/in?***' }, 'PATCH')).status, 422)
    t.equal((await sendTo(`/webhooks/${id}`, { url: secret }, 'PATCH')).status, 200)
    t.equal((await sendTo(`/webhooks/${id}/test`, {})).status, 202)

    const url = 'https://example.com/?m4rker'
    const more = { webhook_url: secret, extract_metadata: true, cache_ttl: 60 }
    const good = await ask('', { url, ...more })
    const bad = await ask('', { url: `${url}fails`, ...more })
    await ask('/batch', { urls: [`${url}batch`], ...more })
    await eventually(async () => (await ask(`/${bad.id}`)).status === 'failed')
    await eventually(async () => (await ask(`/${good.id}`)).status === 'completed')
    const hit = await ask('', { url, ...more })
    for (const each of [good.id, hit.id]) {
      t.match(await ask(`/${each}`), { final_url: finalUrl, metadata, warnings }, 'its account is shown all of it')
    }
    t.match(await ask(`/${bad.id}`), { error: { message: 'at https://example.com/?m4rker' } })
    t.match(await (await send(`/${bad.id}/image`)).text(), /RENDER_ERROR at https:/)
    const deliveries = await (await send(`/${good.id}/deliveries`)).text()
    t.match(deliveries, /hooks\.example\.com\/in\?\*\*\*/)
    t.notMatch(deliveries, /m4rker/)

    const folders = await stored()
    const [data = '', streams = ''] = folders
    for (const [folder, canary] of [
      [join(data, 'pg_wal'), 'https://hooks.example.com/'],
      [streams, 'sha256'],
      [objects, 'canary'],
    ] as const)
      t.not((await filesWith(folder, canary)).length, 0, `the search finds what stands in ${folder}`)
    for (const folder of folders) t.strictSame(await filesWith(folder, 'm4rker'), [])
  },
)

t.test('sealed records: a row from before is shown as it stands', async (t) => {
  const { ask } = await setUp()
  const { id } = await ask('', { url: 'https://example.com/' })
  await database.query(
    `update capture set url = 'https://example.com/old', options = '{"width":1280,"height":800,"format":"png"}' where id = $1`,
    [id],
  )
  t.match(await ask(`/${id}`), { url: 'https://example.com/old', options: { format: 'png' } })
})

t.test('sealed records: without its key a record cannot be shown, but its image can be asked for', async (t) => {
  const { ask, send } = await setUp()
  const { id } = await ask('', { url: 'https://example.com/' })
  await database.query(`update capture set options = '{"sealed":"lost:AAAA"}' where id = $1`, [id])
  t.equal((await send(`/${id}`)).status, 500)
  t.equal((await send(`/${id}/image`)).status, 404, 'NOT_READY')
})
