// Draws pages of the console with live data into docs/images: starts a system, captures some pages, and signs in.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright'
import { openDatabase } from '#shared/db/connection.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { openLink } from '#test/helpers/console-pages.ts'
import { startSystem } from '#test/helpers/system.ts'

const root = resolve(import.meta.dirname, '../..')
const images = join(root, 'docs/images')

const page = (title: string, colour: string, rows: readonly string[]) => `<!doctype html><title>${title}</title>
  <style>body { margin: 0; font: 18px/1.5 sans-serif; color: #1d2733 } header { padding: 60px 80px; background: ${colour}; color: #fff }
  h1 { margin: 0; font-size: 54px } main { display: grid; grid-template-columns: repeat(3, 1fr); gap: 24px; padding: 40px 80px }
  div { padding: 24px; border: 1px solid #d5dbe1; border-radius: 8px } b { display: block; font-size: 26px }</style>
  <header><h1>${title}</h1></header><main>${rows.map((row) => `<div><b>${row}</b>today</div>`).join('')}</main>`

const sites: Readonly<Record<string, string>> = {
  '/tides': page('Tide tables', '#0f4c5c', ['05:12 low', '11:31 high', '17:40 low', '23:58 high', '1.2 m', '4.6 m']),
  '/weather': page('Harbour weather', '#5f0f40', [
    '14 °C',
    'West 5',
    'Rain 20 %',
    '1012 hPa',
    'Waves 1.4 m',
    'Good view',
  ]),
  '/ferries': page('Ferries', '#386641', ['07:30 on time', '09:00 on time', '10:30 late', '12:00 on time']),
}

await using resources = new AsyncDisposableStack()
const server = createServer((request, response) => {
  const site = sites[request.url ?? '']
  response.writeHead(site ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' }).end(site ?? 'Not found')
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
resources.defer(() => void server.close())
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
const system = resources.use(await startSystem(['--workers-max', '2', '--allow-target', host]))
const browser = await startBareBrowser()
resources.defer(() => browser.close())
const { baseUrl } = system
const { api_key: key, account_id: accountId, database_url: databaseUrl } = await system.readLocal()

const send = async (path: string, body: object) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(`${baseUrl}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

const capturePages = async () => {
  for (const path of Object.keys(sites)) await send('/screenshots/capture', { url: `http://${host}${path}` })
  await send('/screenshots/capture', { url: `http://${host}/ferries`, format: 'webp', full_page: true })
  await send('/screenshots/capture', { url: `http://${host}/tides`, dark_mode: true, response_type: 'json' })
  await send('/screenshots', { url: 'https://not-there.invalid/' })
  await send('/keys', { name: 'Website, production', domains: [] })
}

/** Gives the account a quota, and days before this one, which no system that has just started has. */
const pretendDays = async () => {
  await using database = openDatabase({ url: databaseUrl, poolMax: 1 })
  await database.query(`update account set plan = 'starter' where id = $1`, [accountId])
  await database.query(
    `insert into usage_day (account_id, day, outcome, captures)
     select $1, (now() at time zone 'utc')::date - n, o.outcome, 1 + (o.most * abs(sin(n * 1.7 + o.most)))::integer
       from generate_series(1, 29) as n
       cross join (values ('completed', 90), ('cached', 20), ('TIMEOUT', 7), ('DNS_FAILED', 3)) as o (outcome, most)`,
    [accountId],
  )
  await database.query(
    `insert into usage (account_id, period, settled)
     select account_id, date_trunc('month', now() at time zone 'utc')::date, sum(captures) from usage_day
      where account_id = $1 and outcome = 'completed' and day >= date_trunc('month', now() at time zone 'utc') group by 1
         on conflict (account_id, period) do update set settled = excluded.settled`,
    [accountId],
  )
}

const open = async (colorScheme: 'light' | 'dark', ...flags: readonly string[]): Promise<Page> => {
  const opened = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme })
  const command = ['console', '--data', system.dataDir, '--json', ...flags]
  const { stdout } = await promisify(execFile)(join(root, 'bin/shutterfleet'), command)
  await openLink(opened, (JSON.parse(stdout) as { url: string }).url)
  return opened
}

const draw = async (opened: Page, name: string) => {
  await opened.waitForLoadState('networkidle')
  await opened.screenshot({ path: join(images, `console-${name}.png`) })
  console.log(`docs/images/console-${name}.png written`)
}

const show = async (opened: Page, name: string) => {
  await opened.getByRole('navigation').getByRole('link', { name }).click()
  await opened.getByRole('heading', { level: 1, name }).waitFor()
}

await capturePages()
await pretendDays()
const member = await open('light')
await draw(member, 'overview')
await show(member, 'Playground')
await member.getByRole('textbox', { name: 'URL' }).fill(`http://${host}/tides`)
await member.getByRole('button', { name: 'Capture' }).click()
await member.getByRole('img', { name: 'Capture result' }).waitFor({ timeout: 60_000 })
await draw(member, 'playground')
const operator = await open('dark', '--operator')
await show(operator, 'Pools')
await draw(operator, 'pools')
