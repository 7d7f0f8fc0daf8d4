import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem } from '#test/helpers/system.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'

// Sends the requests of docs/examples/parameters to a whole system, with hosts replaced by local ones.

const folder = resolve(import.meta.dirname, '../../docs/examples/parameters')
const certificate = await makeCertificate(['localhost'])
const site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
const receiver = await startReceiver(certificate, () => 200)
let proxied = 0
const proxy = await listening(
  createServer().on('connect', (request, client, head) => {
    proxied += 1
    const [host = '', port = ''] = (request.url ?? '').split(':')
    const target = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      target.write(head)
      client.pipe(target).pipe(client)
    })
    target.on('error', () => client.destroy())
    client.on('error', () => target.destroy())
  }),
)
const system = await startSystem(['--allow-target', '127.0.0.0/8', '--extra-ca', certificate.certPath])
t.teardown(async () => {
  await system.stop()
  for (const each of [site, receiver, proxy, certificate]) await each[Symbol.asyncDispose]()
})

const here = (text: string) =>
  text
    .replaceAll('https://example.com/', `http://${site.host}/index.html`)
    .replaceAll('proxy.example:3128', `127.0.0.1:${proxy.port}`)
    .replaceAll('https://hooks.example/', `https://127.0.0.1:${receiver.port}/`)

type Made = { readonly id?: string; readonly data?: { readonly id: string } }

// No store answers there: uploads do not change what a capture returns.
await system.post('/v1/upload-destinations', {
  ...{ name: 'archive', endpoint: `https://127.0.0.1:${proxy.port}`, bucket: 'shots' },
  ...{ access_key_id: 'id', secret_access_key: 'secret' },
})

for (const name of await readdir(folder)) {
  t.test(`examples parameters: ${name} is captured without a warning`, async (t) => {
    const body = JSON.parse(here(await readFile(join(folder, name), 'utf8'))) as Record<string, unknown>
    const created = (await (await system.post('/v1/screenshots', body)).json()) as Made
    const id = created.data?.id ?? created.id ?? `none: ${JSON.stringify(created)}`
    await eventually(async () => /completed|failed/.test((await system.record(id)).status ?? ''), { withinMs: 90_000 })
    const record: { status: string | undefined; warnings?: readonly unknown[] } = await system.record(id)
    t.match(record, { status: 'completed' })
    t.same(record.warnings ?? [], [])
    if (name === 'emulation-proxy.json') t.ok(proxied > 0, 'the proxy was used')
    if (name === 'advanced.json') await eventually(() => receiver.received.some(({ body: sent }) => sent.includes(id)))
  })
}
