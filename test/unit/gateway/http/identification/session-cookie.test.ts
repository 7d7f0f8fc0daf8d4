import t from 'tap'
import { sessionCookie, sessionTokenOf } from '#gateway/http/identification/session-cookie.ts'

const token = 'aB3-_'.repeat(9).slice(0, 43)

t.test('session cookie: is found among others, and only in its full form', (t) => {
  const own = `shutterfleet_session=${token}`
  for (const cookie of [own, `a=b; ${own}`, `${own};a=b`, `xshutterfleet_session=1; ${own}; ${own}`])
    t.equal(sessionTokenOf({ cookie }), token, cookie)
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
    t.equal(sessionTokenOf({ ...(cookie !== undefined && { cookie }) }), undefined, String(cookie))
  t.equal(sessionTokenOf({ cookie: own, authorization: '' }), undefined, 'an Authorization header takes precedence')
  t.end()
})

t.test('session cookie: is sent over TLS only if clients reach the service so, and is removed by its name', (t) => {
  t.equal(sessionCookie('http://a', token), `shutterfleet_session=${token}; Path=/; HttpOnly; SameSite=Lax`)
  t.equal(sessionCookie('https://a', token), `shutterfleet_session=${token}; Path=/; HttpOnly; SameSite=Lax; Secure`)
  t.equal(sessionCookie('http://a'), 'shutterfleet_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0')
  t.end()
})
