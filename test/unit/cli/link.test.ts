import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { link } from '#cli/link.ts'
import type { ParsedArgs } from '#cli/command/command.ts'

const url = 'https://shots.example/v1/render?signature=x'
const requests: unknown[] = []
const server = createServer(async (request, response) => {
  requests.push([request.method, request.url, await json(request)])
  const isKnown = request.url === '/v1/keys/1/links'
  response.writeHead(isKnown ? 200 : 404)
  response.end(JSON.stringify(isKnown ? { data: { url } } : { error: { code: 'NOT_FOUND', message: 'no such key' } }))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const { port } = server.address() as AddressInfo

const run = async (source: string, flags: ParsedArgs['flags']) => {
  const env = { SHUTTERFLEET_BASE_URL: `http://127.0.0.1:${port}`, SHUTTERFLEET_API_KEY: 'key' }
  const printed: unknown[] = []
  const print = (output: unknown) => void printed.push(output)
  const outputs = { note: () => {}, write: () => {}, print, printEach: print }
  const context = { env, stop: new AbortController().signal, root: '/', ...outputs }
  await link.run(context, { flags, operands: [source] })
  return printed
}

t.test('link: prints the link that the service signs for the key', async (t) => {
  const printed = await run('https://example.com', { 'key-id': '1', parameter: ['format=webp', 'width=800'] })
  t.same(printed, [{ json: { url }, text: url }])
  const parameters = { format: 'webp', width: 800, url: 'https://example.com' }
  t.same(requests.at(-1), ['POST', '/v1/keys/1/links', { parameters }])
})

t.test('link: needs a key, and reports what the service refuses', async (t) => {
  await t.rejects(run('https://example.com', {}), /--key-id/)
  await t.rejects(run('https://example.com', { 'key-id': '2' }), { code: 'NOT_FOUND', message: 'no such key' })
})
