import t from 'tap'
import { sessionCookie, sessionTokenOf } from '#gateway/http/identification/session-cookie.ts'

const local = 'http://a'
const token = 'aB3-_'.repeat(9).slice(0, 43)

t.test('session cookie: is found among others, and only in its full form', (t) => {
  const own = `shutterfleet_session=${token}`
  for (const cookie of [own, `a=b; ${own}`, `${own};a=b`, `xshutterfleet_session=1; ${own}; ${own}`])
    t.equal(sessionTokenOf({ cookie }, local), token, cookie)
  for (const cookie of [
    undefined,
    '',
    'a=b',
    `x${own}`,
    `${own}x`,
    own.slice(0, -1),
    'shutterfleet_session=',
    `"${own}"`,
  ])
    t.equal(sessionTokenOf({ ...(cookie !== undefined && { cookie }) }, local), undefined, String(cookie))
  t.equal(
    sessionTokenOf({ cookie: own, authorization: '' }, local),
    undefined,
    'an Authorization header takes precedence',
  )
  t.end()
})

// Contract: Session cookie
t.test('session cookie: is read of requests of our own pages and of people alone', (t) => {
  const cookie = `shutterfleet_session=${token}`
  for (const site of ['same-origin', 'none']) t.equal(sessionTokenOf({ cookie, 'sec-fetch-site': site }, local), token)
  for (const site of ['cross-site', 'same-site', 'x'])
    t.equal(sessionTokenOf({ cookie, 'sec-fetch-site': site }, local), undefined, site)
  t.end()
})

t.test('session cookie: is sent over TLS only if clients reach the service so, and is removed by its name', (t) => {
  t.equal(sessionCookie('http://a', token), `shutterfleet_session=${token}; Path=/; HttpOnly; SameSite=Lax`)
  t.equal(
    sessionCookie('https://a', token),
    `__Host-shutterfleet_session=${token}; Path=/; HttpOnly; SameSite=Lax; Secure`,
  )
  t.equal(sessionCookie('http://a'), 'shutterfleet_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0')
  t.end()
})

t.test('session cookie: behind TLS only the one that no other host of the domain can set is read', (t) => {
  const plain = `shutterfleet_session=${token}`
  t.equal(sessionTokenOf({ cookie: plain }, 'https://a'), undefined)
  t.equal(sessionTokenOf({ cookie: `${plain}x; __Host-${plain}` }, 'https://a'), token)
  t.end()
})
