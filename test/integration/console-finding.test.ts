import type { Page } from 'playwright'
import t from 'tap'
import { violationsOn } from '#test/helpers/axe.ts'
import { startPages } from '#test/helpers/browser-host.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { buildConsole, consolePages, openPage } from '#test/helpers/console-pages.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startSystem } from '#test/helpers/system.ts'

const captureMs = 60_000

buildConsole()
const site = await startPages()
const system = await startSystem(['--workers-max', '1', '--allow-target', site.host])
const browser = await startBareBrowser()
t.teardown(async () => {
  await browser.close()
  await system.stop()
  await site[Symbol.asyncDispose]()
})

const { complaints, openContext, signIn } = consolePages(browser, system)

const post = async (page: Page, path: string, data: object) => {
  const session = (await (await page.request.get(`${system.baseUrl}/console/api/session`)).json()) as {
    csrf_token: string
  }
  const headers = { 'x-csrf-token': session.csrf_token, origin: system.baseUrl }
  const answer = await page.request.post(`${system.baseUrl}${path}`, { data, headers })
  return ((await answer.json()) as { data: { id: string } }).data
}

t.test('captures: support finds one by host, and sees which page answered with an error', async (t) => {
  const page = await openContext()
  await signIn(page)
  await post(page, '/v1/screenshots/capture', { url: `${site.url}/missing`, response_type: 'json' })
  await post(page, '/v1/screenshots/capture', { url: `${site.url}/plain`, response_type: 'json' })
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/v1/keys*', async (route) => (await held, route.continue()))
  await openPage(page, 'Captures')
  await page.getByText('Page: 404').waitFor({ timeout: captureMs })
  t.equal(await page.getByText('Page: 404').count(), 1, 'that of the page that was found is not told')
  await page.getByText('Search by host').click()
  const host = page.getByRole('searchbox', { name: 'Host' })
  await host.fill('elsewhere.example')
  release()
  await page.getByLabel('Key').getByRole('option').nth(1).waitFor({ state: 'attached' })
  t.equal(await host.inputValue(), 'elsewhere.example', 'what is typed stays when the keys have come')
  await host.press('Enter')
  await page.getByText('No capture matches').waitFor()
  t.match(page.url(), /host=elsewhere\.example/)
  await host.fill(site.host)
  await host.press('Enter')
  await page.getByText('2 captures').waitFor()
  await page.getByRole('spinbutton', { name: 'Status of the page' }).fill('404')
  await page.getByRole('spinbutton', { name: 'Status of the page' }).press('Enter')
  await page.getByText('1 capture', { exact: true }).waitFor()
  t.same(await violationsOn(page), [])
})

t.test('batches: all are listed with their failures, which come first and are retried', async (t) => {
  const page = await openContext()
  await signIn(page)
  const urls = [`${site.url}/plain`, `https://${site.host}/`]
  const { id } = await post(page, '/v1/screenshots/batch', { urls })
  await openPage(page, 'Batches')
  await page.getByText('1 failed').waitFor({ timeout: captureMs })
  t.same(await violationsOn(page), [])
  await page.getByRole('link', { name: id }).click()
  t.match(await page.getByRole('row').nth(1).innerText(), /Failed/, 'failures come first')
  await page.getByRole('button', { name: 'Retry 1 failed capture' }).click()
  await page.waitForURL((url) => !url.pathname.endsWith(id))
  await page.getByText('1 of 1 ended').waitFor({ timeout: captureMs })
  await openPage(page, 'Batches')
  await page.getByRole('row').nth(2).waitFor()
  t.same(complaints, [])
})

t.test('webhooks: a receiver that refuses everything does not look healthy', async (t) => {
  const page = await openContext()
  await signIn(page)
  const { id } = await post(page, '/v1/webhooks', {
    url: `https://${site.host}/hook`,
    events: ['screenshot.completed'],
  })
  await post(page, `/v1/webhooks/${id}/test`, {})
  await openPage(page, 'Webhooks')
  const row = page.getByRole('row', { name: /hook/ })
  await eventually(async () => {
    await page.reload()
    await row.waitFor()
    return (await row.getByText('1 of 1 failed').count()) === 1
  })
  t.same(await violationsOn(page), [])
})

t.test('palette: finds webhooks and keys by name, and asks what an id is of', async (t) => {
  const page = await openContext()
  await signIn(page)
  await openPage(page, 'Overview')
  await page.keyboard.press('Control+k')
  const find = page.getByRole('dialog').getByRole('searchbox')
  await find.fill('hook')
  await page.getByRole('button', { name: /^Webhook https:/ }).click()
  await page.waitForURL(/webhooks\/[\da-f-]{36}$/)
  await page.keyboard.press('Control+k')
  await find.fill('01a22ff1-c68c-7e68-af09-a691b1d37f97')
  for (const name of [/^Open capture/, /^Open batch/, /^Webhook/])
    t.equal(await page.getByRole('dialog').getByRole('button', { name }).count(), 1, String(name))
  t.same(await violationsOn(page), [])
})
