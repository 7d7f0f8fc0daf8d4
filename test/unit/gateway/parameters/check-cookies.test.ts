import t from 'tap'
import { checkCookieDomains } from '#gateway/parameters/check-cookies.ts'
import { collectErrors } from '#shared/capture/validation-errors.ts'

const cookieErrors = (domain: string, host: string | undefined) => {
  const errors = collectErrors({})
  checkCookieDomains([{ name: 'a', value: 'x', domain }], host, errors.report)
  return errors.all()
}

t.test('check cookies: rejects a public suffix as the domain, with and without a target', async (t) => {
  const fault = { 'cookies.0.domain': ['must not be a public suffix, which sites of others end in too'] }
  for (const [host, domain] of [
    ['www.example.com', 'com'],
    ['www.example.co.uk', '.CO.UK'],
    ['me.github.io', 'github.io'],
    ['a.b.kawasaki.jp', 'b.kawasaki.jp'],
  ] as const) {
    t.same(cookieErrors(domain, host), fault, domain)
    t.same(cookieErrors(domain, undefined), fault, domain)
  }
})

t.test('check cookies: accepts the host of the target, exceptions of the suffix list, and addresses', async (t) => {
  for (const [host, domain] of [
    ['github.io', 'github.io'],
    ['me.github.io', 'me.github.io'],
    ['intranet', 'intranet'],
    ['a.city.kawasaki.jp', 'city.kawasaki.jp'],
    ['8.8.8.8', '8.8.8.8'],
  ] as const)
    t.equal(cookieErrors(domain, host), undefined, domain)
})
