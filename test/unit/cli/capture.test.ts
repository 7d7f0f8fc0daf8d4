import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { capture } from '#cli/capture.ts'
import type { ParsedArgs } from '#cli/command/command.ts'

const bodies: unknown[] = []
const server = createServer(async (request, response) => {
  if (request.method !== 'POST') return void response.end('image')
  const { response_type: responseType, ...body } = (await json(request)) as Record<string, unknown>
  t.equal(responseType, 'json')
  bodies.push(body)
  response.end(JSON.stringify({ data: { id: 'abc', status: 'completed', mime_type: 'image/png' } }))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const { port } = server.address() as AddressInfo

const written: string[] = []
const notes: string[] = []

/** The request body that the command sends. */
const sent = async (source: string, flags: ParsedArgs['flags']) => {
  const env = { SHUTTERFLEET_BASE_URL: `http://127.0.0.1:${port}`, SHUTTERFLEET_API_KEY: 'key' }
  const outputs = {
    note: (line: string) => void notes.push(line),
    write: (bytes: Uint8Array | string) => void written.push(Buffer.from(bytes).toString()),
  }
  const rest = { stop: new AbortController().signal, root: '/', print: () => {}, printEach: () => {}, ...outputs }
  await capture.run({ env, ...rest }, { flags, operands: [source] })
  return bodies.at(-1)
}

t.test('capture: the extension of the output file sets the format, unless it is given', async (t) => {
  const folder = t.testdir()
  const url = 'https://example.com'
  for (const [name, format] of [
    ['a.jpg', 'jpeg'],
    ['a.JPEG', 'jpeg'],
    ['a.webp', 'webp'],
    ['a.png', 'png'],
    ['a.tif', 'tiff'],
    ['a.avif', 'avif'],
    ['a.pdf', 'pdf'],
  ] as const) {
    t.strictSame(await sent(url, { output: join(folder, name) }), { url, format }, name)
  }
  t.strictSame(await sent(url, { output: join(folder, 'without') }), { url })
  t.strictSame(await sent(url, { output: join(folder, 'a.bin'), parameter: ['format=webp'] }), { url, format: 'webp' })
  const before = bodies.length
  for (const name of ['a.gif', 'a.txt']) {
    const message = /-o .*\.(gif|txt): .* one of \.png, \.jpeg, \.jpg, \.webp,.*-p format=/
    await t.rejects(sent(url, { output: join(folder, name) }), { message }, name)
  }
  t.equal(bodies.length, before, 'nothing is captured')
})

t.test('capture: an extension that contradicts the format is refused', async (t) => {
  const output = join(t.testdir(), 'a.jpg')
  const url = 'https://example.com'
  t.match(await sent(url, { output, parameter: ['format=jpeg'] }), { format: 'jpeg' })
  const before = bodies.length
  const message = /-o .*a\.jpg and -p format=png contradict each other/
  await t.rejects(sent(url, { output, parameter: ['format=png'] }), { message })
  t.equal(bodies.length, before, 'nothing is captured')
})

t.test('capture: a file that cannot be written is found before the capture', async (t) => {
  const before = bodies.length
  const folder = join(t.testdir({ folder: {} }), 'folder')
  for (const [output, code] of [
    [join(folder, 'missing', 'a.png'), 'its folder does not exist, ENOENT'],
    [folder, 'it is a folder, EISDIR'],
  ] as const) {
    const message = new RegExp(`${output} cannot be written \\(${code}\\); choose another with -o`)
    await t.rejects(sent('https://example.com', { output }), { message })
  }
  t.equal(bodies.length, before, 'nothing is captured')
})

t.test('capture: - is the standard output, which has the image only', async (t) => {
  await sent('https://example.com', { output: '-' })
  t.strictSame(written, ['image'])
  t.match(notes, [/^standard output: /])
  const both = sent('https://example.com', { output: '-', json: true })
  await t.rejects(both, { message: /-o - and --json both need the standard output/ })
})

t.test('capture: a host without a scheme is refused with its URL', async (t) => {
  const message = /SOURCE example\.com\/a: must be an http or https URL, such as https:\/\/example\.com\/a, or a file/
  await t.rejects(sent('example.com/a', {}), { message })
  for (const local of ['localhost:3000', '127.0.0.1:8000/page', '10.0.0.1']) {
    await t.rejects(sent(local, {}), { message: new RegExp(`such as http://${local}, or a file`) }, local)
  }
})

t.test('capture: accepts HTML and Markdown files by their extensions, and no others', async (t) => {
  const folder = t.testdir({ 'a.md': '# a', 'a.html': '<p>a', 'a.txt': 'a' })
  t.match(await sent(join(folder, 'a.html'), { output: join(folder, 'a.png') }), { html: '<p>a' })
  t.match(await sent(join(folder, 'a.md'), { output: join(folder, 'b.png') }), { markdown: '# a' })
  const message = /SOURCE .*a\.txt: .*ending in \.html or \.htm or \.md$/
  await t.rejects(sent(join(folder, 'a.txt'), {}), { message })
})
