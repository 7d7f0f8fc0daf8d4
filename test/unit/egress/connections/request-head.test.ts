import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { createAuthorization } from '#egress/connections/request-head.ts'

const showing = (value: string | undefined) =>
  ({ headers: value === undefined ? {} : { 'proxy-authorization': value } }) as IncomingMessage

t.test('authorization: accepts each of several tokens, so that they can be rotated', async (t) => {
  const isAuthorized = createAuthorization(['old-token', 'new-token'])
  for (const token of ['old-token', 'new-token']) t.ok(isAuthorized(showing(`Bearer ${token}`)), token)
})

t.test('authorization: rejects anything else', async (t) => {
  const isAuthorized = createAuthorization(['old-token', 'new-token'])
  for (const value of [
    ...[undefined, '', 'Bearer', 'Bearer ', 'old-token', 'Basic old-token', 'Bearer old-toke', 'Bearer old-token-'],
    ...['Bearer old-token,new-token', 'Bearer Old-token', 'Bearer  old-token'],
  ]) {
    t.notOk(isAuthorized(showing(value)), value ?? 'nothing')
  }
})

t.test('authorization: accepts every request if no tokens are set', async (t) => {
  for (const value of [undefined, 'Bearer x']) t.ok(createAuthorization([])(showing(value)))
})
