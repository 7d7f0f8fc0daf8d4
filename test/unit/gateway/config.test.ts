import t from 'tap'
import { readConfig } from '#gateway/config.ts'

const env = {
  SHUTTERFLEET_DATABASE_URL: 'postgres://u:p@localhost/db',
  SHUTTERFLEET_NATS_URL: 'nats://localhost:4222',
  SHUTTERFLEET_KEY_PEPPER: 'pepper',
  SHUTTERFLEET_SEALING_KEY_STANDARD: 'key',
  SHUTTERFLEET_SEALING_KEY_PROXIED: 'key',
  SHUTTERFLEET_SEALING_KEY_WEBHOOKS: 'key',
}

t.test('what is not set has its default', async (t) => {
  t.match(readConfig(env), { gatewayPort: 8080, queueAllowanceMs: 30_000, publicUrl: undefined, allowTargets: [] })
})

t.test('the public address has no trailing slash', async (t) => {
  t.equal(readConfig({ ...env, SHUTTERFLEET_PUBLIC_URL: 'https://shots.example/' }).publicUrl, 'https://shots.example')
})

t.test('all problems are told at once, secrets hidden', async (t) => {
  const broken = {
    ...env,
    SHUTTERFLEET_KEY_PEPPER: '',
    SHUTTERFLEET_GATEWAY_PORT: '65536',
    SHUTTERFLEET_PUBLIC_URL: 'ftp://x',
    SHUTTERFLEET_TYPO: '1',
  }
  try {
    readConfig(broken)
    t.fail('the configuration was taken')
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    t.equal(code, 'CONFIGURATION')
    for (const name of ['KEY_PEPPER = (hidden)', 'GATEWAY_PORT = 65536', 'PUBLIC_URL = ftp://x', 'SHUTTERFLEET_TYPO'])
      t.match(message, name)
  }
})
