import t from 'tap'
import type { FieldErrors } from '#shared/errors/app-error.ts'
import { parseCapture } from '#gateway/parameters/parse-capture.ts'

const url = 'https://example.com/'

const errorsIn = (input: unknown): FieldErrors => {
  const verdict = parseCapture(input, { allow: [], hasStealth: true })
  return verdict.ok ? {} : verdict.errors
}

t.test('check headers: header_origins are at most ten origins of http or https', async (t) => {
  const headers = { 'X-A': '1' }
  const good = [
    'https://api.example.com',
    'http://EXAMPLE.com:8080/',
    'https://[2001:db8::1]:8443',
    'https://bücher.de',
  ]
  t.same(errorsIn({ url, headers, header_origins: good }), {})
  for (const bad of [
    'api.example.com',
    'ftp://a.com',
    'https://a.com/b',
    'https://u@a.com',
    'https://a.com?',
    'https:\\\\a.com',
  ])
    t.match(errorsIn({ url, headers, header_origins: [bad] }), { 'header_origins.0': [/must be an origin/] }, bad)
  const many = Array.from({ length: 11 }, (_, index) => `https://a${index}.com`)
  t.same(Object.keys(errorsIn({ url, headers, header_origins: many })), ['header_origins'])
})
