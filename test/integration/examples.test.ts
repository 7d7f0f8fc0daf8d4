import { execFile, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'
import sharp from 'sharp'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem } from '#test/helpers/system.ts'
import { makeCertificate } from '#test/helpers/webhook-receiver.ts'

// Runs the examples of docs/examples unchanged against a whole system.

const root = resolve(import.meta.dirname, '../..')
const examples = join(root, 'docs/examples')
const execute = promisify(execFile)
const runMs = 60_000

/** Program and file extension by language. */
const programs = { curl: ['sh', 'sh'], typescript: [process.execPath, 'mts'], python: ['python3', 'py'] } as const
type Language = keyof typeof programs
const languages = ['curl', 'typescript', 'python'] as const satisfies Language[]

const folder = await mkdtemp(join(tmpdir(), 'examples-'))
const certificate = await makeCertificate(['localhost'])
const site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
const system = await startSystem(['--allow-target', '127.0.0.0/8', '--extra-ca', certificate.certPath])
t.teardown(async () => {
  await system.stop()
  for (const each of [site, certificate]) await each[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})
const { base_url: base, api_key: key } = await system.readLocal()
const env = { PATH: process.env['PATH'], BASE: base, KEY: key, npm_config_cache: join(folder, 'npm') }
const page = `http://${site.host}/index.html`

// A user's project as `npm init` creates it, with the client installed.
const client = join(root, 'clients/typescript')
await execute('npm', ['init', '--yes', '--init-type=commonjs'], { cwd: folder, env })
await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', '--install-links', client], {
  cwd: folder,
  env,
})
await cp(examples, folder, { recursive: true })

const commandOf = (language: Language, name: string) => {
  const [program, ending] = programs[language]
  return [program, join(folder, language, `${name}.${ending}`)] as const
}

const run = async (language: Language, name: string, ...args: readonly string[]) => {
  const [program, file] = commandOf(language, name)
  return (await execute(program, [file, ...args], { cwd: folder, env, timeout: runMs })).stdout
}

t.test('examples: each example exists in every language and is linked from the page about the examples', async (t) => {
  const text = await readFile(join(examples, 'README.md'), 'utf8')
  const files = await Promise.all(languages.map((language) => readdir(join(examples, language))))
  t.equal(new Set(files.map(({ length }) => length)).size, 1)
  const links = files.flatMap((names, place) => names.map((name) => `(${languages[place]}/${name})`))
  t.strictSame(
    links.filter((link) => !text.includes(link)),
    [],
  )
})

t.test('examples: every documented curl fails if the service responds with an error', async (t) => {
  for (const document of ['README.md', 'docs/examples/README.md']) {
    const lines = (await readFile(join(root, document), 'utf8')).split('\n').filter((line) => line.startsWith('curl '))
    t.ok(lines.length > 0)
    t.strictSame(
      lines.filter((line) => !line.includes('--fail-with-body')),
      [],
      document,
    )
  }
})

t.test('examples: the TypeScript examples compile', async () => {
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--skipLibCheck']
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
  const names = (await readdir(join(folder, 'typescript'))).map((name) => join(folder, 'typescript', name))
  // The compiler does not run with the loader of the tests.
  const compiler = ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'node_modules/.bin/tsc')]
  await execute('env', [...compiler, ...options, ...types, ...names], {
    cwd: folder,
    env,
    timeout: runMs,
  })
})

for (const language of languages) {
  t.test(`examples: ${language} captures images synchronously and in the background`, async (t) => {
    const png = join(folder, `${language}.png`)
    t.match(await run(language, 'capture', page, png), /wrote/)
    t.match(await sharp(png).metadata(), { format: 'png', width: 1280 })
    const webp = join(folder, `${language}.webp`)
    t.match(await run(language, 'create-and-wait', page, webp), /wrote/)
    t.match(await sharp(webp).metadata(), { format: 'webp', width: 1280, height: 800 })
    await t.rejects(run(language, 'create-and-wait', 'http://unknown.invalid/', webp), /DNS_FAILED/)
  })

  t.test(`examples: ${language} reports a batch and a capture until their end`, async (t) => {
    const output = await run(language, 'batch', page, 'http://unknown.invalid/')
    t.match(output, /DNS_FAILED/)
    t.match(output, /"completed":1|1 of 2 completed/)
    t.match(await run(language, 'live-events', page), /result[^]*image\/png/)
  })

  t.test(`examples: ${language} gets an image by link without a key, and lists and deletes the capture`, async (t) => {
    const link = (await run(language, 'signed-link', page)).trim()
    const image = await fetch(link)
    t.match(image, { status: 200 })
    const id = image.headers.get('x-screenshot-id') ?? 'no id'
    t.match(await run(language, 'list'), id)
    t.match(await run(language, 'delete', id), `deleted ${id}`)
    t.notMatch(await run(language, 'list'), id)
    await t.rejects(run(language, 'delete', id), /NOT_FOUND|There is no screenshot/)
  })

  t.test(`examples: ${language} prints the message of an error, and leaves the file alone`, async (t) => {
    const names = [
      'account',
      'batch',
      'create-and-wait',
      'delete',
      'keys',
      'list',
      'live-events',
      'signed-link',
      'capture',
    ]
    const own = join(t.testdir({ 'page.png': 'mine' }), 'page.png')
    const operands: Record<string, readonly string[]> = {
      delete: ['00000000-0000-4000-8000-000000000000'],
      capture: [page, own],
      'create-and-wait': [page, own],
    }
    for (const name of names) {
      const [program, file] = commandOf(language, name)
      const wrong = { ...env, KEY: 'sk_live_wrong' }
      const ended = execute(program, [file, ...(operands[name] ?? [])], { cwd: folder, env: wrong, timeout: runMs })
      const error = await ended.then(
        () => ({ code: 0, stderr: '', stdout: '' }),
        (thrown: { code: number; stderr: string; stdout: string }) => thrown,
      )
      t.match(error, { code: /^(1|22)$/, stdout: '', stderr: /API key/ }, name)
      t.notMatch(error.stderr, /Traceback|\n +at /, name)
    }
    t.equal(await readFile(own, 'utf8'), 'mine')
    t.strictSame(await readdir(t.testdirName), ['page.png'])
  })

  t.test(`examples: ${language} prints the account's plan`, async (t) => {
    t.match(await run(language, 'account'), /unlimited/)
  })

  t.test(`examples: ${language} creates a key for one host, lists it and revokes it`, async (t) => {
    const output = await run(language, 'keys', 'shop.example')
    const [made = ''] = output.split('\n')
    t.match(output, /^sk_live_[A-Za-z0-9]{40}\n[^]*Website[^]*revoked [0-9a-f-]{36}\n$/)
    const headers = { authorization: `Bearer ${made}`, origin: 'https://shop.example' }
    t.equal((await fetch(`${base}/v1/account`, { headers })).status, 401, 'it is revoked')
  })
}

/** Terminates TLS in front of a receiver. */
const startTlsFront = async (port: number) => {
  const [cert, pem] = await Promise.all([readFile(certificate.certPath), readFile(certificate.keyPath)])
  return listening(
    createServer({ cert, key: pem }, (outside) => {
      const inside = connect(port, '127.0.0.1')
      outside.on('error', () => inside.destroy())
      inside.on('error', () => outside.destroy())
      outside.pipe(inside).pipe(outside)
    }),
  )
}

/** A signed delivery; `at` is in Unix seconds. */
const signed = (secret: string, at: number, body: string) => {
  const mac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64')).update(`1.${at}.${body}`)
  const headers = {
    'webhook-id': '1',
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${mac.digest('base64')}`,
  }
  return { method: 'POST', headers, body }
}

type CreatedWebhook = { readonly data: { readonly id: string; readonly secret: string } }

for (const language of ['typescript', 'python'] as const) {
  t.test(`examples: ${language} receiver accepts deliveries with a valid signature and refuses others`, async (t) => {
    // The address is known only once the receiver runs, and the secret only once there is an address.
    const created = await system.post('/v1/webhooks', { url: 'https://127.0.0.1:9443/', events: ['webhook.test'] })
    const { id, secret } = ((await created.json()) as CreatedWebhook).data
    const [program, file] = commandOf(language, 'webhook-receiver')
    const receiver = spawn(program, [file], {
      cwd: folder,
      env: { ...env, SECRET: secret, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => receiver.kill('SIGKILL'))
    let output = ''
    receiver.stdout.on('data', (part: Buffer) => (output += part.toString()))
    await eventually(() => /listening.*\d/.test(output))
    const port = Number(/(\d{4,5})\D*$/.exec(output)?.[1])
    await using front = await startTlsFront(port)
    const url = `https://127.0.0.1:${front.port}/`
    const headers = { 'content-type': 'application/json' }
    await system.request(`/v1/webhooks/${id}`, { method: 'PATCH', headers, body: JSON.stringify({ url }) })
    const queued = (await (await system.post(`/v1/webhooks/${id}/test`, {})).json()) as CreatedWebhook
    await eventually(() => output.includes(`webhook.test ${queued.data.id}`), { withinMs: 30_000 })
    const now = Math.floor(Date.now() / 1000)
    for (const [what, by, at, status] of [
      ['validly signed', secret, now, 204],
      ['signed with another secret', 'whsec_c29tZWJvZHkgZWxzZQ==', now, 400],
      ['validly signed six minutes ago', secret, now - 360, 400],
    ] as const) {
      const delivery = signed(by, at, '{"event":"webhook.test","data":{"id":"made"}}')
      t.equal((await fetch(`http://127.0.0.1:${port}/`, delivery)).status, status, what)
    }
    await eventually(() => output.includes('refused'))
    const ended = once(receiver, 'exit')
    receiver.kill('SIGKILL')
    await ended
  })
}

t.test('examples: the curl receiver checks a body against its signature', async (t) => {
  const secret = 'whsec_c2VjcmV0'
  const body = '{"event":"webhook.test"}'
  const verify = async (signature: string) => {
    const [, file] = commandOf('curl', 'verify-webhook')
    const work = execute('sh', [file, signature], { env: { ...env, SECRET: secret }, timeout: runMs })
    work.child.stdin?.end(body)
    return (await work).stdout
  }
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  t.match(await verify(signature), /signature valid/)
  await t.rejects(verify(signature.replace(/^./, 'x')), /signature invalid/)
})
