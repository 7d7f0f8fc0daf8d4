import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t from 'tap'
import { type Language, sampleOf } from '#console/views/playground/samples.ts'

const run = promisify(execFile)
const key = 'sk_live_test'
const runMs = 60_000
/** Every character that a language could take for its own. */
const nasty = String.raw`it's "quoted" \ \n $HOME ${'${x}'} %s {y} ` + '`id` \n\t <b> é 猫 🙂'
const parameters = {
  url: `https://example.com/?q=${encodeURIComponent(nasty)}&r='"$(id)`,
  format: 'webp',
  full_page: true,
  block_cookies: false,
  scale: 1.5,
  css: nasty,
  hide_selectors: [nasty, '#b'],
  headers: {},
  clip: { x: 0, y: 10, width: 200, height: 100 },
}

type Received = {
  readonly authorization: string | undefined
  readonly path: string | undefined
  readonly body: unknown
}
const received: Received[] = []
const server = createServer(async (incoming, response) => {
  const body = JSON.parse(await text(incoming)) as unknown
  received.push({ authorization: incoming.headers.authorization, path: incoming.url, body })
  response.writeHead(200, { 'content-type': 'image/webp', 'x-screenshot-id': 'id' })
  response.end('picture')
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const folder = await mkdtemp(join(tmpdir(), 'shutterfleet-samples-'))
t.teardown(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

const client = new URL('../../../../../clients/typescript/dist/shutterfleet.js', import.meta.url)
const programs: Readonly<Partial<Record<Language, readonly [file: string, program: string]>>> = {
  curl: ['sample.sh', 'sh'],
  python: ['sample.py', 'python3'],
  typescript: ['sample.ts', process.execPath],
}

/** Runs a sample as its reader would, with the key in the environment. */
const runSample = async (language: Language) => {
  const [file, program] = programs[language] ?? ['', '']
  const sample = sampleOf(language, { baseUrl, parameters })
  await writeFile(join(folder, file), sample.replace('@shutterfleet/client', client.href))
  const { NODE_OPTIONS: _loader, ...env } = process.env
  await run(program, [file], { cwd: folder, timeout: runMs, env: { ...env, SHUTTERFLEET_API_KEY: key } })
}

for (const language of ['curl', 'python', 'typescript'] as const)
  t.test(`samples: ${language} sends exactly the parameters with the key, and stores the image`, async (t) => {
    received.length = 0
    await runSample(language)
    const [{ body, ...rest } = { body: undefined }] = received
    // The client's method names the kind of response itself.
    t.same(body, language === 'typescript' ? { ...parameters, response_type: 'image' } : parameters)
    t.same(rest, { authorization: `Bearer ${key}`, path: '/v1/screenshots/capture' })
    t.equal(await readFile(join(folder, 'page.webp'), 'utf8'), 'picture')
    await rm(join(folder, 'page.webp'))
  })

t.test('samples: Go has the parameters as one text, whatever they contain', async (t) => {
  const literalIn = (value: unknown) =>
    /const parameters = ([^]*?)\n\nfunc main/.exec(sampleOf('go', { baseUrl, parameters: { css: value } }))?.[1] ?? ''
  t.match(literalIn('plain "text"'), /^`[^`]*`$/)
  t.same(JSON.parse(literalIn('plain').slice(1, -1)), { css: 'plain' })
  t.same(JSON.parse(JSON.parse(literalIn(nasty)) as string), { css: nasty })
})

t.test('samples: PHP texts end where they should', async (t) => {
  const sample = sampleOf('php', { baseUrl, parameters: { css: String.raw`it's \ $x`, full_page: true, headers: {} } })
  t.match(sample, String.raw`'css' => 'it\'s \\ $x',`)
  t.match(sample, "'full_page' => true,")
  t.match(sample, "'headers' => []")
})
