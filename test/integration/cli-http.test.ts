import { execFile, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import sharp from 'sharp'
import t from 'tap'
import { commandLine } from '#test/helpers/command-line.ts'
import { readDocument } from '#test/helpers/documented-json.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem } from '#test/helpers/system.ts'

// The commands that use the HTTP interface, against a whole system.

const site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
const system = await startSystem(['--allow-target', '127.0.0.0/8'])
t.teardown(async () => {
  await system.stop()
  await site[Symbol.asyncDispose]()
})
const env = { PATH: process.env['PATH'], SHUTTERFLEET_DATA: system.dataDir }
const page = `http://${site.host}/index.html`
const missing = 'http://unknown.invalid/'

const run = (args: readonly string[], input = '') => {
  const running = promisify(execFile)(commandLine, [...args], { env, cwd: t.testdirName })
  running.child.stdin?.end(input)
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, errors: stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout,
      errors: stderr,
    }),
  )
}

const json = async <T>(...args: readonly string[]): Promise<T> => {
  const { code, out, errors } = await run([...args, '--json'])
  if (code !== 0) throw new Error(errors)
  return await readDocument<T>(args, out)
}

t.testdir()

t.test('cli http: captures the addresses of a file into a folder, without a bar if there is no terminal', async (t) => {
  const list = join(t.testdir(), 'list.txt')
  await writeFile(list, `# pages\n${page}\n\n${page}?second\n`)
  const folder = join(t.testdirName, 'images')
  const { code, out, errors } = await run(['capture', '--from', list, '-o', folder, '-p', 'format=webp'])
  t.match({ code, errors }, { code: 0, errors: '' })
  t.match(out, /^2 of 2 captured into .*images\n$/)
  const names = (await readdir(folder)).toSorted()
  t.match(names, [/^00002-127\.0\.0\.1-\d+-index\.html\.webp$/, /^00004-.*\.webp$/])
  t.match(await sharp(join(folder, names[0] ?? '')).metadata(), { format: 'webp' })
})

t.test('cli http: captures that fail are listed, and the command fails after all others', async (t) => {
  const folder = join(t.testdir(), 'images')
  const capture = ['capture', '--from', '-', '-o', folder, '--concurrency', '2']
  const { code, out, errors } = await run([...capture, '--json'], `${missing}\n${page}\n`)
  t.match({ code, errors }, { code: 1, errors: 'shutterfleet: 1 of 2 captures failed\n' })
  const ends = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { line: number })
  t.match(
    ends.toSorted((one, other) => one.line - other.line),
    [
      { line: 1, url: missing, error: { code: 'DNS_FAILED' } },
      { line: 2, status: 'completed', file: /00002-.*\.png$/ },
    ],
    'a document for each capture, in the order of their ends',
  )
  t.match((await run(capture, `${missing}\n`)).out, /^line 1: .*: DNS_FAILED: .*\n0 of 1 captured into /)
})

t.test('cli http: a list that cannot be captured is refused before anything is', async (t) => {
  const folder = t.testdir({ file: '' })
  const from = ['capture', '--from', '-']
  t.match(await run(from, 'example.com'), { code: 2, out: '', errors: /--from, line 1: example\.com: must be/ })
  t.match(await run([...from, page], page), { code: 2, errors: /is an unexpected argument/ })
  t.match(await run([...from, '--concurrency', '65'], page), { code: 2, errors: /--concurrency 65: .* from 1 to 64/ })
  t.match(await run(['capture', page, '--concurrency', '2']), { code: 2, errors: /--concurrency needs --from/ })
  t.match(await run([...from, '-o', join(folder, 'file')], page), {
    code: 1,
    errors: /file cannot be used \(.*ENOTDIR\)/,
  })
  t.match(await run([...from, '-o', join(folder, 'no/no')], page), {
    code: 1,
    errors: /cannot be used \(its folder does not exist, ENOENT\)/,
  })
})

t.test('cli http: draws a bar on a terminal, on standard error', async (t) => {
  const folder = join(t.testdir({ 'list.txt': page }), 'images')
  const command = `${commandLine} capture --from ${join(t.testdirName, 'list.txt')} -o ${folder} --json >${t.testdirName}/out`
  const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], {
    env: { ...env, TERM: 'xterm' },
  })
  t.match(stdout, /\[\.+\] 0 of 1[^]*\[#+\] 1 of 1/)
})

type Webhook = { id: string; secret: string }

t.test('cli http: creates, lists, tests and deletes webhooks, and shows their deliveries', async (t) => {
  const url = 'https://127.0.0.1/hooks'
  const created = await json<Webhook>('webhook', 'create', url, '--event', 'batch.completed', '--description', 'Mine')
  t.match(created, { url, events: ['batch.completed'], description: 'Mine', secret: /^whsec_/ })
  const { out } = await run(['webhook', 'list'])
  t.match(out, new RegExp(`^ID .*\\n${created.id} +active +${url} +batch\\.completed +Mine`))
  t.notMatch(out, created.secret)
  const { id } = await json<{ id: string }>('webhook', 'test', created.id)
  await eventually(async () => /connection_failed/.test((await run(['webhook', 'deliveries', created.id])).out))
  t.match(await json('webhook', 'deliveries', created.id, '--limit', '1'), [{ id, event: 'webhook.test' }])
  t.match(await json('webhook', 'redeliver', created.id, id), { id })
  t.strictSame(await json('webhook', 'delete', created.id), { id: created.id, deleted: true })
  t.strictSame(await json('webhook', 'list'), [])
  t.match(await run(['webhook', 'create', 'http://x.example']), { code: 1, out: '', errors: /VALIDATION_ERROR.*url/ })
  t.match(await run(['webhook', 'test', '../keys']), { code: 1, errors: /NOT_FOUND/ })
  t.match(await run(['webhook', 'deliveries', created.id, '--limit', '0']), { code: 2, errors: /--limit 0/ })
})

type Heard = { event: string; data: { id: string }; forwarded: { status: number } }

t.test('cli http: listen prints webhooks and forwards them, with body and signature of a webhook', async (t) => {
  const received: { headers: IncomingHttpHeaders; body: string }[] = []
  const receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    response.writeHead(202).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => receiver.close())
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`
  const listening = spawn(commandLine, ['listen', '--forward', target, '--json'], { env, stdio: 'pipe' })
  t.teardown(() => listening.kill('SIGKILL'))
  let [out, errors] = ['', '']
  listening.stdout.on('data', (chunk) => (out += String(chunk)))
  listening.stderr.on('data', (chunk) => (errors += String(chunk)))
  await eventually(() => /signed with whsec_/.test(errors))
  const secret = /whsec_\S+/.exec(errors)?.[0] ?? ''
  // The first poll may be later than the line: until it is heard, captures are repeated.
  const ids: string[] = []
  await eventually(async () => {
    ids.push((await json<{ id: string }>('capture', page, '-o', join(t.testdir(), 'out.png'))).id)
    return received.length > 0
  })
  const batch = await system.post('/v1/screenshots/batch', { urls: [page, missing] })
  t.equal(batch.status, 202)
  const heard = () =>
    out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Heard)
  // Deliveries of one account may be in any order.
  await eventually(() => ['screenshot.failed', 'batch.completed'].every((event) => out.includes(event)))
  t.ok(ids.includes(heard()[0]?.data.id ?? ''))
  const events = new Set(heard().map(({ event }) => event))
  t.strictSame(events, new Set(['screenshot.completed', 'screenshot.failed', 'batch.completed']))
  t.ok(heard().every(({ forwarded }) => forwarded.status === 202))
  const [{ headers, body } = { headers: {}, body: '' }] = received
  t.equal(headers['x-webhook-signature'], createHmac('sha256', secret).update(body).digest('hex'))
  const { data } = JSON.parse(body) as { data: Record<string, unknown> }
  t.strictSame(Object.keys(data), [
    ...['id', 'status', 'url', 'options', 'file_size', 'mime_type', 'width', 'height', 'processing_time_ms'],
    ...['image_url', 'created_at', 'completed_at'],
  ])
  listening.kill('SIGINT')
  t.strictSame(await once(listening, 'exit'), [0, null])
})

t.test('cli http: listen refuses what it cannot use', async (t) => {
  const refused = (...args: string[]) => run(['listen', ...args])
  t.match(await refused('--forward', 'localhost:3000'), {
    code: 2,
    errors: /--forward localhost:3000: must be an http/,
  })
  t.match(await refused('--forward', 'http://u:p@localhost'), { code: 2, errors: /without a password/ })
  t.match(await refused('--event', 'quota.warning'), { code: 2, errors: /--event quota\.warning: must be one of/ })
  t.match(await refused('--secret', 'hunter2'), { code: 2, errors: /--secret: must be whsec_/ })
  const more = { ...env, SHUTTERFLEET_BASE_URL: system.baseUrl, SHUTTERFLEET_API_KEY: 'sk_live_wrong' }
  const listening = promisify(execFile)(commandLine, ['listen'], { env: more })
  await t.rejects(listening, { code: 1, stderr: /INVALID_API_KEY/ })
})
