import t from 'tap'
import { databaseSettings, queueSettings, splitNatsUrl } from '#shared/config/settings/outside.ts'

t.test('NATS_URL: accepts the addresses of several servers, and rejects invalid ones', async (t) => {
  const { parse } = queueSettings.natsUrl
  const several = 'nats://u:p,w@one:4222,tls://u:p,w@two:4222'
  t.strictSame(parse(several), { ok: true, value: several })
  t.strictSame(splitNatsUrl(several), ['nats://u:p,w@one:4222', 'tls://u:p,w@two:4222'])
  t.match(parse('nats://one:4222,two:4222'), { ok: false, problem: /must be an address that begins with nats:/ })
  t.match(parse(''), { ok: false })
})

t.test('DATABASE_URL: a password that is not percent-encoded is named', async (t) => {
  const { parse } = databaseSettings.databaseUrl
  for (const password of ['a/b', 'a#b', 'a?b'])
    t.match(parse(`postgres://user:${password}@db/shots`), {
      ok: false,
      problem: /percent-encode its password: \/ as %2F/,
    })
  t.match(parse('postgres://user:a%2Fb@db/shots'), { ok: true })
  const missing = parse('here')
  t.notMatch(missing, { problem: /percent/ })
})
