import t from 'tap'
import { createRecordSeal } from '#shared/db/record-seal.ts'
import { sealDetails } from '#shared/db/result-seal.ts'
import { pendingCapture } from '#test/helpers/gateway-context.ts'
import { namedKey } from '#test/helpers/named-key.ts'

const [old, fresh] = [namedKey('old', 1), namedKey('fresh', 2)]
const capture = {
  id: 'a',
  url: 'https://user:***@example.com/private?q=1',
  options: { format: 'png', js: 'x', webhook_url: 'https://hooks.example.com/?***' },
}

t.test('record seal: leaves the origin and the format in plain text, and opens to the whole', async (t) => {
  const records = createRecordSeal([fresh])
  const stored = records.seal(capture)
  t.match(stored, { id: 'a', url: 'https://example.com', options: { format: 'png', sealed: /^fresh:/ } })
  t.same(Object.keys(stored.options), ['format', 'sealed'])
  t.notMatch(JSON.stringify(stored), /private|hooks/)
  t.strictSame(records.open(stored), capture)
  t.equal(records.seal({ ...capture, url: null }).url, null)
})

t.test('record seal: opens what an older key sealed, and seals with the first', async (t) => {
  const before = createRecordSeal([old]).seal(capture)
  const turned = createRecordSeal([fresh, old])
  t.strictSame(turned.open(before), capture)
  t.match(turned.seal(capture).options, { sealed: /^fresh:/ })
  t.throws(() => createRecordSeal([fresh]).open(before), {
    code: 'SERVER_ERROR',
    message: /no key old in .*RECORD_KEYS/,
  })
})

t.test('record seal: a text opens only unchanged, and in its own row', async (t) => {
  const records = createRecordSeal([fresh])
  const sealed = records.sealText('a', 'text')
  t.equal(records.openText('a', sealed), 'text')
  t.not(records.sealText('a', 'text'), sealed)
  t.throws(() => records.openText('b', sealed), { code: 'SERVER_ERROR', message: /does not open/ })
  const [id = '', body = ''] = sealed.split(':')
  const bytes = Buffer.from(body, 'base64')
  bytes[12]! ^= 1
  t.throws(() => records.openText('a', `${id}:${bytes.toString('base64')}`), { code: 'SERVER_ERROR' })
})

t.test('record seal: a row without a sealed part is returned as it is', async (t) => {
  t.equal(createRecordSeal([fresh]).open(capture), capture)
})

t.test('record seal: the URL of a receiver keeps its origin in plain text, and opens to the whole', async (t) => {
  const records = createRecordSeal([fresh, old])
  const url = 'https://user:m4rker@hooks.example.com:8443/m4rker?token=m4rker'
  const stored = records.sealUrl(pendingCapture.id, url)
  t.match(stored, /^https:\/\/hooks\.example\.com:8443\/#/)
  t.notMatch(stored, /m4rker|user/)
  t.equal(records.openUrl(stored), url)
  t.equal(records.openUrl('https://s3.example.com/bucket'), 'https://s3.example.com/bucket', 'that of a bucket')
  t.throws(() => createRecordSeal([old]).openUrl(stored), { code: 'SERVER_ERROR' })
})

t.test('record seal: opens what a worker sealed, and leaves out what it made up', async (t) => {
  const records = createRecordSeal([fresh, old])
  const { id } = pendingCapture
  const row = { ...pendingCapture, status: 'failed', error: { code: 'TIMEOUT', message: null } } as const
  const details = { finalUrl: 'https://a.com/?m4rker\0', message: 'm4rker' }
  const sealed = sealDetails(records.resultKey(id), id, details)
  t.notMatch(sealed, /m4rker/)
  const whole = { finalUrl: 'https://a.com/?m4rker', error: { code: 'TIMEOUT', message: 'm4rker' } }
  t.match(records.openCapture({ ...row, sealedResult: sealed }), whole)
  t.match(records.openCapture({ ...row, id: 'follower', sealedResult: sealed }), whole, 'a follower shares it')
  const other = sealDetails(createRecordSeal([old]).resultKey(id), id, details).replace('old', 'fresh')
  const wrong = sealDetails(records.resultKey(id), id, { finalUrl: '' })
  for (const sealedResult of [null, '', 'fresh', 'fresh:', 'lost:a:AAAA', sealed.slice(0, -8), other, wrong]) {
    const opened = records.openCapture({ ...row, sealedResult })
    t.match(opened, { finalUrl: null, error: { code: 'TIMEOUT', message: /\w/ } }, String(sealedResult))
    t.not(opened.error?.message, 'm4rker')
  }
})
