import t from 'tap'
import { netErrorIn, classify, type FailedNavigation } from '#worker/browser-host/capture/page/navigation-error.ts'

t.test("navigation error: extracts Chromium's error name from a message", async (t) => {
  t.equal(netErrorIn('page.goto: net::ERR_EMPTY_RESPONSE at http://a/'), 'ERR_EMPTY_RESPONSE')
  t.equal(netErrorIn('Timeout 5000ms exceeded'), undefined)
  t.equal(netErrorIn(undefined), undefined)
})

const failed = (over: Partial<FailedNavigation>) =>
  classify({ netError: undefined, host: 'page.test', refusal: undefined, ...over })

const table: { name: string; over: Partial<FailedNavigation>; code: string }[] = [
  {
    name: 'a refusal takes precedence over the error',
    over: { netError: 'ERR_EMPTY_RESPONSE', refusal: 'blocked' },
    code: 'BLOCKED',
  },
  {
    name: 'no address for the name',
    over: { netError: 'ERR_EMPTY_RESPONSE', refusal: 'dns_failed' },
    code: 'DNS_FAILED',
  },
  { name: 'no connection', over: { refusal: 'connection_failed' }, code: 'CONNECTION_FAILED' },
  { name: 'a request that egress does not serve', over: { refusal: 'bad_request' }, code: 'INVALID_URL' },
  { name: 'a download or 204', over: { netError: 'ERR_ABORTED' }, code: 'INVALID_URL' },
  { name: 'a redirect to a file', over: { netError: 'ERR_UNSAFE_REDIRECT' }, code: 'INVALID_URL' },
  { name: 'too many redirects', over: { netError: 'ERR_TOO_MANY_REDIRECTS' }, code: 'CONNECTION_FAILED' },
  { name: 'a bad certificate', over: { netError: 'ERR_CERT_DATE_INVALID' }, code: 'CONNECTION_FAILED' },
  { name: 'a name that the browser cannot resolve', over: { netError: 'ERR_NAME_NOT_RESOLVED' }, code: 'DNS_FAILED' },
  { name: 'nothing known', over: {}, code: 'RENDER_ERROR' },
]

for (const { name, over, code } of table) {
  t.test(`navigation error: ${name} gives ${code}`, async (t) => {
    t.equal(failed(over).code, code)
  })
}

t.test('navigation error: names host and error, but not the reason why an address is blocked', async (t) => {
  t.match(failed({ netError: 'ERR_CERT_DATE_INVALID' }).publicMessage, /page\.test.*ERR_CERT_DATE_INVALID/)
  t.match(failed({ refusal: 'dns_failed' }).publicMessage, /page\.test/)
  t.match(failed({ refusal: 'blocked' }).publicMessage, /--allow-target HOST:PORT/)
  t.notMatch(failed({ refusal: 'blocked', netError: 'ERR_EMPTY_RESPONSE' }).publicMessage, /page\.test|ERR_/)
})
