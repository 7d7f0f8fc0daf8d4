import t from 'tap'
import { toRefusal } from '#egress/connections/refuse.ts'
import { DeniedTarget } from '#egress/target/check-lists.ts'
import { AppError } from '#shared/errors/app-error.ts'

t.test('refuse: every error has a status and a refusal', async (t) => {
  for (const [code, status, refusal] of [
    ['BLOCKED', 403, 'blocked'],
    ['DNS_FAILED', 502, 'dns_failed'],
    ['CONNECTION_FAILED', 502, 'connection_failed'],
    ['TIMEOUT', 504, 'connection_failed'],
    ['BAD_REQUEST', 400, 'bad_request'],
    ['SERVER_ERROR', 503, 'unavailable'],
    ['SERVICE_UNAVAILABLE', 503, 'unavailable'],
    ['CONFIGURATION', 407, 'unavailable'],
  ] as const) {
    t.same(toRefusal(new AppError(code)), { status, refusal }, code)
  }
})

t.test('refuse: a target that lists refuse has a reason of its own, by their owner', async (t) => {
  for (const owner of ['account', 'installation'] as const) {
    t.same(toRefusal(new DeniedTarget(owner, 'x')), { status: 403, refusal: `denied_by_${owner}` })
  }
})
