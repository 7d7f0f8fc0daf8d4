import t from 'tap'
import { commonErrors, errorSetsOf } from '#gateway/openapi/schema/errors.ts'

t.test('errors: groups codes by status, in the order of the catalogue', (t) => {
  t.same(errorSetsOf(['NOT_READY', 'VALIDATION_ERROR', 'NOT_FOUND', 'NOT_FOUND']), [
    { name: 'ImageNotFound', status: 404, codes: ['NOT_FOUND', 'NOT_READY'] },
    { name: 'Invalid', status: 422, codes: ['VALIDATION_ERROR'] },
  ])
  t.end()
})

t.test('errors: a group without a name of its own is named after its codes', (t) => {
  const names = (...codes: Parameters<typeof errorSetsOf>[0]) => errorSetsOf(codes).map(({ name }) => name)
  t.same(names('NOT_READY'), ['NotReady'])
  t.same(names('SIGNATURE_EXPIRED', 'INVALID_SIGNATURE'), ['InvalidSignatureOrSignatureExpired'])
  t.end()
})

t.test('errors: the errors of an operation follow from its access, method and path', (t) => {
  const open = { access: 'open', method: 'GET', path: '/docs' } as const
  const common = commonErrors(open)
  t.same(common, ['BAD_REQUEST', 'URI_TOO_LONG', 'SERVER_ERROR'])
  const more = (of: object) => commonErrors({ ...open, ...of }).filter((code) => !common.includes(code))
  const refused = ['INVALID_API_KEY', 'UNAUTHORIZED', 'DOMAIN_NOT_ALLOWED', 'FORBIDDEN']
  const ofCaller = [...refused, 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE']
  t.same(more({ access: 'link' }), ofCaller)
  t.same(more({ access: 'key' }), [...ofCaller, 'VALIDATION_ERROR'])
  t.same(more({ path: '/webhooks/:id' }), ['NOT_FOUND'])
  t.same(more({ method: 'POST' }), ['IDEMPOTENCY_MISMATCH'])
  t.same(more({ body: {} }), ['PAYLOAD_TOO_LARGE'])
  t.same(more({ accepts: true }), ['USAGE_LIMIT_EXCEEDED', 'FEATURE_NOT_AVAILABLE', 'NOT_FOUND', 'QUEUE_FULL'])
  t.end()
})
