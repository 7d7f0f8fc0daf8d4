import { execFile, execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { Client } from 'minio'
import t from 'tap'
import { readS3Url } from '#shared/storage/s3-store.ts'
import { violationsOn } from '#test/helpers/axe.ts'
import { startBareBrowser } from '#test/helpers/bare-browser.ts'
import { openLink } from '#test/helpers/console-pages.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startS3 } from '#test/helpers/s3.ts'
import { startSystem } from '#test/helpers/system.ts'
import { makeCertificate } from '#test/helpers/webhook-receiver.ts'

const root = resolve(import.meta.dirname, '../..')
execFileSync(process.execPath, ['tools/console/build.ts'], { cwd: root })
const certificate = await makeCertificate(['localhost'])
const s3 = await startS3(certificate)
const { bucket, keys, ...place } = readS3Url(s3.url)
const access = { ...place, ...keys! }
const address = `127.0.0.1:${access.port}`
const flags = ['--workers-max', '1', '--allow-target', address, '--extra-ca', certificate.certPath]
const system = await startSystem(flags)
const browser = await startBareBrowser()
t.teardown(async () => {
  await browser.close()
  await system.stop()
  await s3[Symbol.asyncDispose]()
  await certificate[Symbol.asyncDispose]()
})

const signInLink = async (): Promise<string> => {
  const command = ['console', '--data', system.dataDir, '--role', 'member', '--json']
  const { stdout } = await promisify(execFile)(commandLine, command)
  return (JSON.parse(stdout) as { url: string }).url
}

const fields = {
  Name: 'archive',
  Endpoint: `https://${address}`,
  Bucket: bucket,
  Prefix: 'console/',
  'Access key id': access.accessKey,
  'Secret access key': access.secretKey,
}

t.test('console uploads: a destination is added, tested, used by a capture, and deleted', async (t) => {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage()
  await openLink(page, await signInLink())
  await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Add destination' }).click()
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value)
  t.same(await violationsOn(page), [])
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Test archive' }).click()
  await page.getByText('Uploaded').waitFor({ timeout: 30_000 })
  t.same(await violationsOn(page), [])

  const parameters = { html: '<h1>Uploaded', upload_to: 'archive', upload_key: '{host}.{format}' }
  const created = (await (await system.post('/v1/screenshots', parameters)).json()) as { data: { id: string } }
  const { id } = created.data
  const isUploaded = async () => {
    const { upload } = (await system.record(id)) as { upload?: { status: string } }
    return upload?.status === 'succeeded'
  }
  await eventually(isUploaded, { withinMs: 60_000, what: 'the picture is uploaded' })
  const transportAgent = new Agent({ ca: await readFile(certificate.certPath) })
  const client = new Client({ ...access, pathStyle: true, transportAgent })
  const uploaded = await buffer(await client.getObject(bucket, 'console/inline.png'))
  t.equal(uploaded.subarray(1, 4).toString(), 'PNG')
  const names = (await client.listObjectsV2(bucket, '', true).toArray()).map(({ name }) => String(name))
  t.strictSame(names, ['console/inline.png'], 'the object of the test is gone')

  await page.goto(`${system.baseUrl}/console/captures/${id}`)
  await page.getByText(`${bucket}/console/inline.png`).waitFor()
  t.same(await violationsOn(page), [])
  await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Delete archive' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No upload destinations yet').waitFor()
})
