import { createHmac } from 'node:crypto'
import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { isSignedBy, linkBytesMax, readRenderLink, signRenderLink } from '#gateway/links/render-link.ts'
import vectors from '#test/fixtures/link-vectors.json' with { type: 'json' }

const secret = `lsk_${'k'.repeat(43)}`
const keyId = '33333333-3333-4333-8333-333333333333'
const sign = (parameters: Record<string, string>) => signRenderLink(secret, { key_id: keyId, ...parameters })
const refusal = (query: string) => {
  try {
    return readRenderLink(query)
  } catch (error) {
    return error instanceof AppError ? [error.code, error.publicMessage] : error
  }
}

t.test('render link: the canonical query has every parameter once, encoded by RFC 3986 and sorted', (t) => {
  const query = sign({ url: 'https://example.com/?a=1&b=ü', css: "a{content:'*!()~'}", selector: 'a + b' })
  const canonical = [
    'css=a%7Bcontent%3A%27%2A%21%28%29~%27%7D',
    `key_id=${keyId}`,
    'selector=a%20%2B%20b',
    'url=https%3A%2F%2Fexample.com%2F%3Fa%3D1%26b%3D%C3%BC',
  ].join('&')
  const signature = createHmac('sha256', secret).update(canonical).digest('hex')
  t.equal(query, `${canonical}&signature=${signature}`)
  t.match(readRenderLink(query), { canonical, signature, keyId, expires: undefined, placeholder: false })
  t.end()
})

t.test('render link: the vectors that every other implementation is compared with hold', (t) => {
  for (const { parameters, query } of vectors.links) t.equal(signRenderLink(vectors.secret, parameters), query)
  t.end()
})

t.test('render link: order and encoding may change on the way, nothing else', (t) => {
  const query = sign({ url: 'https://example.com/a b', width: '800' })
  const isSigned = (changed: string) => isSignedBy([secret], readRenderLink(changed))
  const reordered = query.split('&').toReversed().join('&')
  for (const same of [query, reordered, `&${query}&`, query.replace('%20', '+'), query.replaceAll('%2F', '/')]) {
    t.equal(isSigned(same), true, same)
  }
  const changes = [`${query}&x=`, `${query}&=`, query.replace('800', '0800'), query.replace('width=800&', '')]
  for (const changed of [...changes, `?${query}`]) {
    const read = refusal(changed)
    t.notOk('keyId' in Object(read) && isSigned(changed), changed)
  }
  t.equal(isSignedBy([`${secret}x`], readRenderLink(query)), false)
  t.equal(isSignedBy(['another', secret], readRenderLink(query)), true, 'the previous secret counts')
  t.equal(isSignedBy([], readRenderLink(query)), false)
  t.end()
})

t.test(
  'render link: a repeated parameter, broken text and a query above the bound are refused before any check',
  (t) => {
    const query = sign({ url: 'https://example.com/' })
    t.match(refusal(`${query}&url=x`), ['INVALID_SIGNATURE', /'url' more than once/])
    t.match(refusal(`${query}&%75rl=x`), ['INVALID_SIGNATURE', /'url' more than once/], 'in another encoding too')
    t.match(refusal(`${query}&signature=${'0'.repeat(64)}`), ['INVALID_SIGNATURE', /'signature' more than once/])
    t.match(refusal(`${query}&x=%FF`), ['INVALID_SIGNATURE', /UTF-8/])
    t.match(refusal(query.replace(/signature=.*/, '')), ['INVALID_SIGNATURE', /`signature`/])
    t.match(refusal(query.replace(keyId, 'x')), ['INVALID_SIGNATURE', /`key_id`/])
    t.match(refusal(sign({ expires: '1e9' })), ['INVALID_SIGNATURE', /`expires`/])
    t.match(refusal(sign({ placeholder: 'grey' })), ['INVALID_SIGNATURE', /`placeholder`/])
    const padding = (length: number) => sign({ html: 'x'.repeat(length) })
    const room = linkBytesMax - padding(0).length
    t.match(refusal(padding(room)), { keyId })
    t.match(refusal(padding(room + 1)), ['URI_TOO_LONG', /8192 bytes/])
    t.end()
  },
)

t.test('render link: only the parameters of the capture are passed on', (t) => {
  const own = { expires: '1800000000', placeholder: '1' }
  const link = readRenderLink(sign({ url: 'https://example.com/', width: '640', ...own }))
  t.match(link, { expires: 1_800_000_000, placeholder: true })
  t.equal(link.captureQuery, 'url=https%3A%2F%2Fexample.com%2F&width=640')
  t.end()
})
