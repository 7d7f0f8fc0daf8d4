import { createHmac } from 'node:crypto'
import t from 'tap'
import { beginFlow, resumeFlow, returnPathOf } from '#gateway/oidc/sign-in-flow.ts'

const hash = (text: string) => createHmac('sha256', 'secret').update(text).digest()
const now = new Date('2026-06-01T12:00:00Z')
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)

t.test('sign-in flow: resumes for ten minutes, the same in every part', (t) => {
  const flow = beginFlow(hash, '/console/keys?a=ü', now)
  t.same(resumeFlow(hash, flow, later(600)), flow)
  t.equal(resumeFlow(hash, flow, later(601)), undefined)
  t.equal(new Set([flow.state, flow.nonce, flow.verifier]).size, 3)
  for (const part of [flow.state, flow.nonce, flow.verifier]) t.match(part, /^[\w-]{43}$/, 'also a PKCE verifier')
  t.notOk([flow.state, flow.nonce].some((each) => flow.cookie.includes(each)))
  t.end()
})

t.test('sign-in flow: needs the cookie, its state and the same secret', (t) => {
  const [flow, other] = [beginFlow(hash, '/console', now), beginFlow(hash, '/console', now)]
  const otherHash = (text: string) => createHmac('sha256', 'other').update(text).digest()
  t.not(flow.state, other.state)
  for (const [cookie, state] of [
    [undefined, flow.state],
    ['', flow.state],
    [other.cookie, flow.state],
    [`${flow.cookie}x`, flow.state],
    [flow.cookie.replace(/^\d/, '9'), flow.state],
    [flow.cookie, ''],
    [flow.cookie, `${flow.state}x`],
  ] as const)
    t.equal(resumeFlow(hash, { cookie, state }, now), undefined, `${cookie} ${state}`)
  t.equal(resumeFlow(otherHash, flow, now), undefined)
  t.end()
})

t.test('sign-in flow: returns to pages of the console alone', (t) => {
  for (const path of ['/console', '/console/', '/console/captures?status=failed', '/console/keys/a%20b'])
    t.equal(returnPathOf(path), path)
  for (const path of [
    'https://evil.example/console/keys',
    '//evil.example/console/keys',
    '/\\evil.example/console/keys',
  ])
    t.equal(returnPathOf(path), '/console/keys', 'another origin is dropped')
  for (const path of [
    null,
    '//console/keys',
    '',
    '/',
    'javascript:alert(1)//console',
    '/v1/keys',
    '/consoles',
    '/console/../v1/keys',
    '/console/api/session',
    '/console/sign-in?error=x',
    '/console/sign-in/oidc',
    `/console/${'x'.repeat(1000)}`,
  ])
    t.equal(returnPathOf(path), '/console', String(path).slice(0, 40))
  t.end()
})
