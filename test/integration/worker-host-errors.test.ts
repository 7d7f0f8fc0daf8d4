import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import t from 'tap'
import type { CaptureParameters } from '#shared/capture/options.ts'
import { failingPages } from '#test/fixtures/pages/pages.ts'
import { captureWith, startPages, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { makeCertificate } from '#test/helpers/webhook-receiver.ts'
import type { Host } from '#worker/host/steer-host.ts'

const pages = await startPages({
  '/slow': (_request, response) => void setTimeout(() => response.end('<p>slow'), 3500),
  '/document.pdf': (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4'),
})
const egress = await startTestEgress(pages.host)
// A page that fills memory ends its renderer by V8's bound, before the higher bound that would end its host.
const host = await startTestHost(egress, {}, { memoryMax: 2 ** 34 })
t.teardown(async () => {
  await host[Symbol.asyncDispose]()
  await egress[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
})

const take = (parameters: CaptureParameters) => captureWith(host, { timeout: 5, ...parameters })

// Contract: `timeout`
t.test('worker host errors: the timeout bounds the load, including the wait for a selector', async (t) => {
  const navigateMs = async (parameters: CaptureParameters, message: RegExp) => {
    const outcome = await take({ timeout: 5, ...parameters })
    t.match(outcome, { outcome: 'failed', code: 'TIMEOUT', message })
    return outcome.timings.navigate ?? 0
  }
  const loading = await navigateMs({ url: `${pages.url}/endless` }, /did not load within 5 s/)
  const selecting = await navigateMs({ url: `${pages.url}/slow`, wait_for_selector: '#never' }, /#never/)
  for (const waitedMs of [loading, selecting]) t.ok(waitedMs >= 4900 && waitedMs < 8000, `${waitedMs} ms`)
  t.match(await take({ url: `${pages.url}/slow`, wait_for_selector: 'p', timeout: 15 }), { outcome: 'completed' })
})

// Contract: Missing selectors
t.test(
  'worker host errors: a selector is waited for, and named in the error if it is missing or invalid',
  async (t) => {
    t.match(await take({ url: `${pages.url}/late`, wait_for_selector: '#late' }), { outcome: 'completed' })
    t.match(await take({ url: `${pages.url}/plain`, wait_for_selector: '#never' }), {
      code: 'TIMEOUT',
      message: /#never/,
    })
    t.match(await take({ url: `${pages.url}/plain`, wait_for_selector: 'a[[' }), {
      code: 'RENDER_ERROR',
      message: /a\[\[/,
    })
  },
)

// Contract: Missing selectors
t.test('worker host errors: the error about a selector says why what is in the page cannot be captured', async (t) => {
  const html = '<details><p id=folded>a</p></details><div id=through style="display:contents"><i hidden>b</i></div>'
  const frame = '<iframe srcdoc="<p id=inner>c</p>"></iframe>'
  for (const [selector, message] of [
    ['#folded', /matched an element in a closed <details>\./],
    ['#through', /matched an element with display: contents, and nothing in it that takes room\./],
    ['#inner', /matched nothing \(frames are not searched; the page has 1\)\./],
  ] as const)
    t.match(await take({ html: html + frame, selector }), { code: 'RENDER_ERROR', message, blame: 'caller' })
  t.match(await take({ html: frame, wait_for_selector: '#inner', timeout: 2 }), { message: /#inner' \(frames are not/ })
})

t.test(
  'worker host errors: an error counts as the fault of the caller whose parameters cause it, or of the page',
  async (t) => {
    const url = `${pages.url}/plain`
    for (const parameters of [
      { url, selector: '#never' },
      { url, selector: 'a[[' },
      { html: '<p id=flat hidden>', selector: '#flat' },
      { url, headers: { 'Set-Cookie': 'a=b' } },
      { url, format: 'pdf', pdf_margin_left: '110mm', pdf_margin_right: '110mm' },
    ] as const) {
      t.match(await take(parameters), { code: 'RENDER_ERROR', blame: 'caller' }, JSON.stringify(parameters))
    }
    t.match(await take({ url: `${pages.url}/endless` }), { code: 'TIMEOUT', blame: 'target' })
  },
)

// Contract: Error mapping
t.test('worker host errors: an address that egress rejects fails with its reason, over both schemes', async (t) => {
  for (const scheme of ['http', 'https']) {
    t.match(await take({ url: `${scheme}://10.0.0.1/` }), { code: 'BLOCKED' })
    t.match(await take({ url: `${scheme}://localhost:1234/` }), { code: 'BLOCKED' })
    t.match(await take({ url: `${scheme}://unknown.invalid/` }), { code: 'DNS_FAILED', message: /unknown\.invalid/ })
  }
})

// Contract: Error mapping
t.test(
  'worker host errors: a name is checked by its addresses; refused connections and bad certificates fail the connection',
  async (t) => {
    await using certificate = await makeCertificate(['tls.test'])
    const [cert, key] = await Promise.all([readFile(certificate.certPath), readFile(certificate.keyPath)])
    await using tls = await listening(createTlsServer({ cert, key }, (_request, response) => response.end('<p>tls')))
    const gone = await listening(createServer())
    await gone[Symbol.asyncDispose]()
    const names = { 'inside.test': { A: ['10.0.0.1'] }, 'both.test': { A: ['93.184.216.34'], AAAA: ['fd00::1'] } }
    await using namedEgress = await startTestEgress(`127.0.0.1:${tls.port} 127.0.0.1:${gone.port}`, names)
    await using named = await startTestHost(namedEgress)
    for (const [url, code] of [
      ['http://inside.test/', 'BLOCKED'],
      ['https://inside.test/', 'BLOCKED'],
      ['http://both.test/', 'BLOCKED'],
      ['http://unknown.test/', 'DNS_FAILED'],
      [`https://127.0.0.1:${tls.port}/`, 'CONNECTION_FAILED'],
      [`http://127.0.0.1:${gone.port}/`, 'CONNECTION_FAILED'],
    ] as const) {
      t.match(await captureWith(named, { url, timeout: 10 }), { outcome: 'failed', code }, url)
    }
    const pdf = await take({ url: `${pages.url}/document.pdf` })
    t.ok(
      pdf.outcome === 'completed' || (pdf.outcome === 'failed' && pdf.code === 'INVALID_URL'),
      'a PDF is captured or fails with INVALID_URL',
    )
  },
)

// Contract: Error mapping
// Contract: Success
t.test(
  'worker host errors: each page that cannot be captured fails with its code, and the next capture completes',
  async (t) => {
    await using other = await startTestHost(egress)
    const isSlow = ([path, { code }]: [string, { code: string }]) => code === 'TIMEOUT' || path === '/loops-after-load'
    const inTurn = async (by: Host, failing: readonly [string, { code: string }][]) => {
      for (const [path, { code }] of failing) {
        const outcome = await captureWith(by, { url: pages.url + path, timeout: code === 'TIMEOUT' ? 5 : 30 })
        t.match(outcome, { outcome: 'failed', code }, path)
        const next = await captureWith(by, { url: `${pages.url}/plain`, timeout: 30 })
        t.match(next, { outcome: 'completed', shot: { targetStatus: 200 } })
      }
    }
    const failing = Object.entries(failingPages)
    const quick = failing.filter((page) => !isSlow(page))
    await Promise.all([inTurn(host, quick), inTurn(other, failing.filter(isSlow))])
  },
)
