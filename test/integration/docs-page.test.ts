import { createHash } from 'node:crypto'
import sharp from 'sharp'
import t from 'tap'
import { captureParameters } from '#shared/capture/options.ts'
import { createApp } from '#gateway/app.ts'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { eventDocs } from '#gateway/openapi/events.ts'
import { createReference } from '#gateway/openapi/reference.ts'
import { routes } from '#gateway/routes.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { completedCapture, createTestContext, testAccount, testKey } from '#test/helpers/gateway-context.ts'
import { inShard } from '#test/helpers/in-shard.ts'

const image = await sharp({ create: { width: 7, height: 5, channels: 3, background: 'teal' } })
  .png()
  .toBuffer()
const capture = {
  ...completedCapture,
  fileSize: image.length,
  sha256: createHash('sha256').update(image).digest('hex'),
}
let url = ''
const context = createTestContext()
Object.assign(context.answers, { find: () => capture, object: () => image })
const app = createApp({
  ...context,
  publicUrl: () => url,
  reference: createReference(() => openapiDocument(routes, url)),
})
url = await app.listen({ host: '127.0.0.1', port: 0 })
const browser = await startBareBrowser()
t.teardown(async () => {
  await browser.close()
  await app.close()
})

const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
/** Errors and warnings of the browser and the page, and the URLs of requests to other origins. */
const complaints: string[] = []
page.on('console', (message) => {
  if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
})
page.on('pageerror', (error) => complaints.push(String(error)))
page.on('request', (request) => {
  if (!request.url().startsWith(url) && !request.url().startsWith('blob:')) complaints.push(request.url())
})

page.setDefaultTimeout(100_000)

/** Opens an operation. The page stays loaded, so its script is compiled only once. */
const open = (fragment: string) => page.goto(`${url}/v1/docs${fragment}`)

/** Sends the request of an operation from the page, with a key, and returns its dialog. */
const send = async (operation: string) => {
  await page
    .getByRole('button', { name: /test request/i })
    .filter({ hasText: `(${operation})` })
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByPlaceholder('Token').fill(testKey)
  await dialog.getByRole('button', { name: /^Send \w+ request/ }).click()
  return dialog
}

const close = async (dialog: Awaited<ReturnType<typeof send>>) => {
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
}

t.test('docs page: lists every operation and event', async (t) => {
  await open('')
  await page.getByRole('link', { name: 'Introduction' }).waitFor()
  const text = (await page.textContent('body')) ?? ''
  const events = eventDocs() as Record<string, { readonly post: { readonly summary: string } }>
  for (const { summary } of [...routes, ...Object.values(events).map(({ post }) => post)])
    t.ok(text.includes(summary), summary)
})

t.test('docs page: shows every parameter of a capture', async (t) => {
  await open('#tag/screenshots/GET/v1/screenshots/capture')
  const names = Object.keys(captureParameters.properties)
  await page
    .getByText(names.at(-1) ?? '', { exact: true })
    .first()
    .waitFor()
  const text = (await page.textContent('main')) ?? ''
  t.same(
    names.filter((name) => !text.includes(name)),
    [],
  )
})

t.test('docs page: sends a request with a key and shows the response', async () => {
  await open('#tag/account/GET/v1/account')
  const dialog = await send('get /v1/account')
  await dialog.getByText(testAccount.email).waitFor()
  await close(dialog)
})

t.test('docs page: shows the image of a response', async (t) => {
  await open('#tag/screenshots/GET/v1/screenshots/{id}/image')
  const dialog = await send('get /v1/screenshots/{id}/image')
  const shown = dialog.locator('img[src^="blob:"]')
  await shown.waitFor()
  t.equal(await shown.evaluate((element: { naturalWidth?: number }) => element.naturalWidth), 7)
  await close(dialog)
})

t.test('docs page: a request with the defaults of an operation is answered as the contract says', async (t) => {
  // The doubles have no webhooks and destinations; members are changed by sessions.
  const left = ['webhook_create', 'upload_destination_create', 'member_add']
  const withDefaults = routes.filter(
    ({ name, path, access, body, parameters }) =>
      access === 'key' && !left.includes(name) && !path.includes(':') && (body || parameters.length > 0),
  )
  for (const { method, path, tag, name } of inShard(withDefaults)) {
    await open(`#tag/${tag.toLowerCase()}/${method}/v1${path}`)
    const responded = page.waitForResponse((response) => new URL(response.url()).pathname === `/v1${path}`)
    const dialog = await send(`${method.toLowerCase()} /v1${path}`)
    const response = await responded
    t.ok(response.ok(), `${name}: ${response.status()} ${response.ok() ? '' : await response.text()}`)
    await dialog.getByText(String(response.status())).first().waitFor()
    await close(dialog)
  }
})

t.test('docs page: causes no error, no request to other origins and no violation of its content policy', async (t) => {
  t.same(complaints, [])
})
