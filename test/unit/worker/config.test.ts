import t from 'tap'
import { readConfig } from '#worker/config.ts'

const env = {
  SHUTTERFLEET_NATS_URL: 'nats://127.0.0.1:4222',
  SHUTTERFLEET_WORKER_EGRESS: '127.0.0.1:3128',
  SHUTTERFLEET_WORKER_OPENING_KEYS: 'a, b',
}

t.test('config: reads required settings; isolation and sandbox are on by default', async (t) => {
  t.match(readConfig(env), {
    egress: { host: '127.0.0.1', port: 3128 },
    openingKeys: ['a', 'b'],
    networkIsolation: 'namespace',
    unsafeNoSandbox: false,
    slots: 1,
  })
})

t.test('config: egress is host and port, with IPv6 in brackets, and nothing else', async (t) => {
  const egressOf = (value: string) => readConfig({ ...env, SHUTTERFLEET_WORKER_EGRESS: value }).egress
  t.strictSame(egressOf('egress.svc:80'), { host: 'egress.svc', port: 80 })
  t.strictSame(egressOf('[::1]:3128'), { host: '::1', port: 3128 })
  for (const bad of ['egress', 'http://egress:1', 'egress:', 'egress:99999', 'a b:1']) {
    t.throws(() => egressOf(bad), { code: 'CONFIGURATION', message: /WORKER_EGRESS/ })
  }
})

t.test('config: rejects as many reserved slots as slots', async (t) => {
  const reserved = (count: string) =>
    readConfig({ ...env, SHUTTERFLEET_WORKER_SLOTS: '2', SHUTTERFLEET_WORKER_RESERVED_SLOTS: count }).reservedSlots
  t.equal(reserved('1'), 1)
  t.throws(() => reserved('2'), {
    code: 'CONFIGURATION',
    message: 'SHUTTERFLEET_WORKER_RESERVED_SLOTS = 2, must be < SHUTTERFLEET_WORKER_SLOTS (2)',
  })
})
