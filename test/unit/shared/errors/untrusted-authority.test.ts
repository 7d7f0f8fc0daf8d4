import t from 'tap'
import { trustAdvice } from '#shared/errors/untrusted-authority.ts'

const failure = (code: string, cause?: unknown) => Object.assign(new Error('failed', { cause }), { code })

t.test('trust advice: names the variable and the value for an unknown authority, at any depth of causes', async (t) => {
  const untrusted = failure('SELF_SIGNED_CERT_IN_CHAIN')
  t.match(trustAdvice(untrusted), /NODE_EXTRA_CA_CERTS.*extraCa\.configMap/)
  t.match(trustAdvice(new Error('outer', { cause: failure('OTHER', untrusted) })), /NODE_EXTRA_CA_CERTS/)
})

t.test('trust advice: is empty for other failures and for values that are not errors', async (t) => {
  for (const thrown of [failure('ECONNREFUSED'), failure('CERT_HAS_EXPIRED'), 'text', undefined, null]) {
    t.equal(trustAdvice(thrown), '')
  }
  const circular = failure('OTHER')
  circular.cause = circular
  t.equal(trustAdvice(circular), '')
})
