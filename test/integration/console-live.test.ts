import { execFile, execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { openLink } from '#test/helpers/console-pages.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { startSystem } from '#test/helpers/system.ts'

// Lists of the console in Chromium, while captures are made elsewhere.

const root = resolve(import.meta.dirname, '../..')
const captureMs = 60_000

execFileSync(process.execPath, ['tools/console/build.ts'], { cwd: root })
const system = await startSystem(['--workers-max', '1'])
const { baseUrl } = system
const browser = await startBareBrowser()
t.teardown(async () => {
  await browser.close()
  await system.stop()
})

const run = async <T>(command: readonly string[]): Promise<T> => {
  const { stdout } = await promisify(execFile)(commandLine, [...command, '--data', system.dataDir, '--json'])
  return JSON.parse(stdout) as T
}

const newAccount = async (name: string) => {
  const account = await run<{ id: string }>([
    'account',
    'create',
    '--name',
    name,
    '--email',
    'a@example.com',
    '--plan',
    'unlimited',
  ])
  const { key } = await run<{ key: string }>(['key', 'create', '--account', account.id])
  const capture = async (title: string) => {
    const answer = await fetch(`${baseUrl}/v1/screenshots`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ markdown: title }),
    })
    return ((await answer.json()) as { data: { id: string } }).data.id
  }
  const remove = (id: string) =>
    fetch(`${baseUrl}/v1/screenshots/${id}`, { method: 'DELETE', headers: { authorization: `Bearer ${key}` } })
  /** Opens a page of the console, and returns the requests for lists that it sends from then on. */
  const open = async (path: string) => {
    const { url } = await run<{ url: string }>(['console', '--account', account.id])
    const context = await browser.newContext()
    const page = await context.newPage()
    await openLink(page, url)
    const stream = page.waitForResponse((response) => response.url().endsWith('/v1/events'))
    await page.goto(`${baseUrl}/console${path}`)
    await stream
    const lists: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/v1/screenshots?')) lists.push(request.url())
    })
    return { context, page, lists }
  }
  return { capture, remove, open }
}

const one = await newAccount('one')
const other = await newAccount('other')

t.test(
  'console live: captures made by a key appear, end and go in the open list of their account, without a reload',
  async (t) => {
    const { context, page, lists } = await one.open('/captures')
    await page.getByText('No captures yet').waitFor()
    await page.evaluate('window.isSamePage = true')
    await other.capture('theirs')
    const id = await one.capture('mine')
    const link = page.locator(`a[href="/console/captures/${id}"]`)
    await link.waitFor()
    await page.locator('tr', { has: link }).getByText('Completed').waitFor({ timeout: captureMs })
    t.equal(await page.getByRole('row').count(), 2, 'the head and the one capture of this account')
    await page.getByText('1 capture', { exact: true }).waitFor()
    const read = lists.length
    const second = await one.capture('second')
    await page.locator(`a[href="/console/captures/${second}"]`).waitFor()
    t.equal((await one.remove(second)).status, 204)
    await page.locator(`a[href="/console/captures/${second}"]`).waitFor({ state: 'detached' })
    t.equal(lists.length, read, 'the list was not read again')
    t.equal(await page.evaluate('window.isSamePage'), true)
    await context.close()
  },
)

t.test('console live: a filtered list has only what matches, and the overview counts with it', async (t) => {
  const { context, page } = await one.open('/captures')
  await page.getByRole('combobox', { name: 'Status' }).selectOption('Failed')
  await page.getByText('No capture matches').waitFor()
  const overview = await one.open('/')
  const id = await one.capture('third')
  const row = overview.page.locator('tr', { has: overview.page.locator(`a[href="/console/captures/${id}"]`) })
  await row.getByText('Completed').waitFor({ timeout: captureMs })
  await overview.page.getByText('Latest 2 captures').waitFor()
  t.equal(await page.getByRole('row').count(), 0)
  for (const each of [context, overview.context]) await each.close()
})

t.test('console live: without the stream the list is polled, every ten seconds', async (t) => {
  const { context, page, lists } = await one.open('/captures')
  await context.route('**/v1/events', (route) => route.abort())
  lists.length = 0
  await page.reload()
  await page.locator('tbody tr').first().waitFor()
  const id = await one.capture('polled')
  const startedMs = Date.now()
  await page.locator(`a[href="/console/captures/${id}"]`).waitFor({ timeout: captureMs })
  t.ok(lists.length >= 2)
  t.ok(lists.length <= 2 + (Date.now() - startedMs) / 5000, 'never more often than every five seconds')
  await context.close()
})
