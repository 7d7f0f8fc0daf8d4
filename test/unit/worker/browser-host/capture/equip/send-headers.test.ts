import t from 'tap'
import { continuationOf } from '#worker/browser-host/capture/equip/send-headers.ts'

const host = 'target.test'
const own = { Accept: '*/*', 'User-Agent': 'Own/1', Referer: 'http://target.test/' }
const paused = (url: string, more: object = {}, headers: Readonly<Record<string, string>> = own) => ({
  requestId: 'a',
  request: { url, headers },
  ...more,
})
const continued = (request: ReturnType<typeof paused>, values: Readonly<Record<string, string>>) => {
  const { headers, ...rest } = continuationOf(request, { host, values })
  return { ...rest, ...(headers && { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) }) }
}

t.test('headers are added for the host of the target alone, whatever its port and scheme', async (t) => {
  const added = { requestId: 'a', headers: { ...own, 'X-A': '1' } }
  for (const url of ['http://target.test/', 'https://target.test:8443/a?b', 'http://user:pass@target.test/'])
    t.strictSame(continued(paused(url), { 'X-A': '1' }), added, url)
  for (const url of [
    'http://www.target.test/',
    'http://target.test.other.test/',
    'http://target.test@other.test/',
    'http://other.test/?http://target.test/',
    'data:text/html,target.test',
    'no address',
  ])
    t.strictSame(continued(paused(url), { 'X-A': '1' }), { requestId: 'a' }, url)
})

t.test('a given header wins over that of the browser, whatever its case', async (t) => {
  const { headers } = continued(paused('http://target.test/'), { 'user-agent': 'Mine/2', ACCEPT: 'x/y' })
  t.strictSame(headers, { Referer: own.Referer, 'user-agent': 'Mine/2', ACCEPT: 'x/y' })
})

t.test('a given Cookie wins by the names of its cookies, and the others stay', async (t) => {
  const cookieFor = (given: string, held?: string) => {
    const request = paused('http://target.test/', {}, held === undefined ? {} : { Cookie: held })
    return continued(request, { cookie: given }).headers
  }
  t.strictSame(cookieFor('a=9; d', 'a=1; b=2;c=3'), { cookie: 'a=9; d; b=2; c=3' })
  t.strictSame(cookieFor('a=9'), { cookie: 'a=9' })
  t.strictSame(cookieFor('', 'a=1'), { cookie: 'a=1' })
})

t.test('without headers a request goes on as it is', async (t) => {
  t.strictSame(continuationOf(paused('http://target.test/', { redirectedRequestId: 'b' }), undefined), {
    requestId: 'a',
  })
})

t.test('every hop of a redirect begins anew, and no other host is sent a given Referer', async (t) => {
  const hop = { redirectedRequestId: 'b' }
  t.strictSame(continued(paused('http://other.test/', hop), { 'Sec-A': '1' }), {
    requestId: 'a',
    url: 'http://other.test/',
  })
  const withFragment = {
    requestId: 'a',
    ...hop,
    request: { url: 'http://other.test/', urlFragment: '#x', headers: {} },
  }
  t.equal(continuationOf(withFragment, { host, values: { a: '1' } }).url, 'http://other.test/#x')
  t.match(continued(paused('http://target.test/', hop), { 'Sec-A': '1' }), {
    url: 'http://target.test/',
    headers: { 'Sec-A': '1' },
  })
  t.strictSame(continued(paused('http://other.test/'), { referer: 'http://mine.test/' }), {
    requestId: 'a',
    headers: { Accept: '*/*', 'User-Agent': 'Own/1', Referer: '' },
  })
})
