import t from 'tap'
import { credentialOf, credentialOfSignIn, isSignIn } from '#gateway/router/credential.ts'

const key = `sk_live_${'aB3d'.repeat(10)}`
const id = '01a22224-e923-7a6f-a7d3-50a6f7810aab'
const token = 'x'.repeat(43)
const publicUrl = 'https://shots.example'
const read = (url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  credentialOf({ method, url, headers }, publicUrl)

t.test(
  'a request is of whom the gateway would take it to be: a key before a link to an image, and that before a session',
  async (t) => {
    const cookie = `a=1; __Host-shutterfleet_session=${token}`
    const image = `/v1/screenshots/${id.toUpperCase()}/image?kid=1&signature=00`
    t.same(read(image, { authorization: `bearer ${key}`, cookie }), { kind: 'key', value: key })
    t.same(read(image, { cookie }), { kind: 'image', value: id })
    t.same(read(`/api${image}`, { cookie }), read(image))
    t.same(read('/v1/account', { cookie }), { kind: 'session', value: token })
    t.same(read(image.replace('signature', 'other'), { cookie }), { kind: 'session', value: token })
  },
)

t.test('a link that captures on demand is of its key, whatever headers come with it', async (t) => {
  const link = `/v1/render?url=https%3A%2F%2Fexample.com&key_id=${id.toUpperCase()}&signature=00`
  t.same(read(link), { kind: 'link', value: id })
  t.same(read(link, { authorization: `Bearer ${key}` }), { kind: 'link', value: id })
  t.equal(read('/v1/render?key_id=1'), undefined)
  t.same(read(link.replace('render', 'rend%65r')), read(link), 'a gateway decodes the path too')
})

t.test('what is malformed, missing, or a preflight is of nobody', async (t) => {
  t.equal(read('/v1/account'), undefined)
  t.equal(read('/v1/account', { authorization: 'Bearer short' }), undefined)
  t.equal(read('/v1/screenshots/none/image?signature=00'), undefined)
  t.equal(read('/v1/account', { authorization: `Bearer ${key}` }, 'OPTIONS'), undefined)
  t.equal(
    read('/v1/account', { cookie: `shutterfleet_session=${token}` }),
    undefined,
    'behind TLS the name has a prefix',
  )
})

t.test('what everybody may read is of nobody, whoever was signed in', async (t) => {
  const cookie = `__Host-shutterfleet_session=${token}`
  const open = [
    '/console',
    '/console/',
    '/console/assets/a.js',
    '/console/sign-in/oidc',
    '/console/api/sign-in',
    '/v1/docs',
    '/api/v1/docs/errors',
    '/v1/openapi.json',
  ]
  for (const path of open) t.equal(read(path, { cookie }), undefined, path)
  for (const path of ['/console/api/session', '/console/api/accounts', '/v1/screenshots', '/consoles'])
    t.same(read(path, { cookie }), { kind: 'session', value: token }, path)
})

t.test('a sign-in has its token in the body', async (t) => {
  t.ok(isSignIn({ method: 'POST', url: '/console/api/session', headers: {} }))
  t.ok(isSignIn({ method: 'POST', url: '/console/api/sign-in', headers: {} }))
  t.notOk(isSignIn({ method: 'GET', url: '/console/api/sign-in', headers: {} }))
  t.notOk(isSignIn({ method: 'DELETE', url: '/console/api/session', headers: {} }))
  t.same(credentialOfSignIn(Buffer.from('{"token":"abc"}')), { kind: 'sign_in', value: 'abc' })
  t.ok(isSignIn({ method: 'POST', url: '/console/api/session?x', headers: {} }))
  for (const body of ['', '{"token":""}', '[]', 'null', '{"token":1}', `{"token":"${'x'.repeat(201)}"}`])
    t.equal(credentialOfSignIn(Buffer.from(body)), undefined)
})
