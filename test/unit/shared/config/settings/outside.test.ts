import t from 'tap'
import { queueSettings, splitNatsUrl } from '#shared/config/settings/outside.ts'

t.test('NATS_URL: accepts the addresses of several servers, and rejects invalid ones', async (t) => {
  const { parse } = queueSettings.natsUrl
  const several = 'nats://u:p,w@one:4222,tls://u:p,w@two:4222'
  t.strictSame(parse(several), { ok: true, value: several })
  t.strictSame(splitNatsUrl(several), ['nats://u:p,w@one:4222', 'tls://u:p,w@two:4222'])
  t.match(parse('nats://one:4222,two:4222'), { ok: false, problem: /must be an address that begins with nats:/ })
  t.match(parse(''), { ok: false })
})
