import t from 'tap'
import { readEnv } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { listenAddress } from '#shared/config/settings/listen-host.ts'

t.test('listen host: :: is both families, and IPv4 alone where the kernel has no IPv6', async (t) => {
  t.equal(listenAddress('::', true), '::')
  t.equal(listenAddress('::', false), '0.0.0.0')
  for (const host of ['127.0.0.1', '::1', 'fd00::1', 'localhost']) t.equal(listenAddress(host, false), host)
  t.equal(listenAddress('[fd00::1]', true), 'fd00::1')
})

t.test('listen host: must not be empty', async (t) => {
  t.throws(() => readEnv(commonSettings, { SHUTTERFLEET_PROBE_HOST: '' }), { message: /PROBE_HOST.*::1/ })
  t.equal(readEnv(commonSettings, {}).probeHost, '127.0.0.1')
})
