import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { createConsole } from '#gateway/console/console.ts'
import { answerStatic, readStaticFiles } from '#gateway/console/static-files.ts'
import { readExchange } from '#gateway/http/exchange.ts'
import { createTestContext } from '#test/helpers/gateway-context.ts'

const script = 'console.log(1)'
const folder = await mkdtemp(join(tmpdir(), 'console-'))
t.teardown(() => rm(folder, { recursive: true }))
await mkdir(join(folder, 'assets'))
await writeFile(join(folder, 'index.html'), '<!doctype html>')
await writeFile(join(folder, 'assets/main-1a2b.js'), script)
await writeFile(join(folder, 'assets/main-1a2b.js.br'), brotliCompressSync(script))
await writeFile(join(folder, 'assets/main-1a2b.js.gz'), gzipSync(script))

const context = createTestContext()
const exchangeOf = (path: string) => readExchange(context, new IncomingMessage(new Socket()), { params: { '*': path } })

t.test('console: says how to build it while it is missing, and is served once it is there', async (t) => {
  const empty = t.testdir()
  const show = createConsole(empty, () => 'https://shots.example')
  const missing = { code: 'NOT_FOUND', publicMessage: /make setup.*SHUTTERFLEET_CONSOLE_FOLDER/ }
  await t.rejects(show(exchangeOf('')), missing)
  await t.rejects(createConsole(join(empty, 'nothing'), () => 'https://shots.example')(exchangeOf('')), missing)
  await writeFile(join(empty, 'index.html'), '<!doctype html>')
  t.match(await show(exchangeOf('')), { status: 200 })
  await t.rejects(show(exchangeOf('api/unknown')), { code: 'NOT_FOUND' })
})

t.test('console: its page names the path of the public URL, and is not served compressed then', async (t) => {
  const below = t.testdir()
  await writeFile(join(below, 'index.html'), '<script src="/console/assets/main.js"></script>')
  await writeFile(join(below, 'index.html.br'), 'compressed')
  const show = (publicUrl: string) =>
    createConsole(below, () => publicUrl)({ ...exchangeOf(''), headers: { 'accept-encoding': 'br' } })
  const { body, headers } = await show('https://shots.example/team/shots')
  t.same(body, Buffer.from('<script src="/team/shots/console/assets/main.js"></script>'))
  t.notOk(headers?.['content-encoding'])
  t.same((await show('https://shots.example')).body, Buffer.from('compressed'))
})

// Contract: Console files
t.test('console: its page is served for every path without a dot, with the headers that confine it', async (t) => {
  const files = await readStaticFiles(folder)
  if (!files) throw new Error('no files')
  const get = (path: string, headers = {}) => answerStatic(files, path, { headers })
  for (const path of ['', 'captures', 'captures/1']) {
    const { status, headers, body } = get(path)
    t.same([status, headers?.['content-type']], [200, 'text/html; charset=utf-8'])
    t.same(body, Buffer.from('<!doctype html>'))
    t.match(headers, {
      'cache-control': 'no-cache',
      'content-security-policy': /default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    })
  }
  for (const path of ['missing.js', '../package.json', 'assets/main-1a2b.js.br', 'assets/main-1a2b.js.map'])
    t.throws(() => get(path), { code: 'NOT_FOUND' }, path)
})

// Contract: Console files
t.test('console: files in assets are immutable, and compressed as the browser accepts', async (t) => {
  const files = await readStaticFiles(folder)
  if (!files) throw new Error('no files')
  const get = (accepted?: string, known?: string) =>
    answerStatic(files, 'assets/main-1a2b.js', { headers: { 'accept-encoding': accepted, 'if-none-match': known } })
  const codingOf = (accepted?: string) => get(accepted).headers?.['content-encoding']
  t.match(get().headers, { 'cache-control': /immutable/, vary: 'Accept-Encoding' })
  t.same([undefined, 'gzip, deflate, br, zstd', 'gzip', 'br;q=0, gzip;q=0.5', 'BR', 'identity'].map(codingOf), [
    undefined,
    'br',
    'gzip',
    'gzip',
    'br',
    undefined,
  ])
  t.same(get('br').body, brotliCompressSync(script))
  const etag = get('br').headers?.['etag']
  t.not(etag, get('gzip').headers?.['etag'])
  t.same([get('br', etag).status, get('br', etag).body, get('gzip', etag).status], [304, undefined, 200])
})
