import t from 'tap'
import { readConfig } from '#gateway/context/config.ts'

const env = {
  SHUTTERFLEET_DATABASE_URL: 'postgres://u:p@localhost/db',
  SHUTTERFLEET_NATS_URL: 'nats://localhost:4222',
  SHUTTERFLEET_KEY_PEPPER: 'pepper',
  SHUTTERFLEET_LINK_SIGNING_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
  SHUTTERFLEET_RECORD_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
  SHUTTERFLEET_SEALING_KEY_STANDARD: 'key',
  SHUTTERFLEET_SEALING_KEY_PROXIED: 'key',
  SHUTTERFLEET_SEALING_KEY_WEBHOOKS: 'key',
}

// Contract: A synchronous capture that waits
t.test('config: unset settings have their defaults', async (t) => {
  t.match(readConfig(env), { gatewayPort: 8080, queueAllowanceMs: 30_000, publicUrl: undefined, allowTargets: [] })
})

t.test('config: strips the trailing slash of the public address', async (t) => {
  t.equal(readConfig({ ...env, SHUTTERFLEET_PUBLIC_URL: 'https://shots.example/' }).publicUrl, 'https://shots.example')
})

t.test('config: link signing keys are a list, each with a unique id and 32 bytes', async (t) => {
  const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
  const read = (keys: string) => readConfig({ ...env, SHUTTERFLEET_LINK_SIGNING_KEYS: keys }).linkSigningKeys
  t.same(
    read(`new:${secret(1)}, old:${secret(2)}`).map(({ id, secret: key }) => [id, key.export()]),
    [
      ['new', Buffer.alloc(32, 1)],
      ['old', Buffer.alloc(32, 2)],
    ],
  )
  for (const bad of ['', 'a', `:${secret(1)}`, 'a:c2hvcnQ=', `a:${secret(1)},a:${secret(2)}`, `a b:${secret(1)}`]) {
    t.throws(() => read(bad), { code: 'CONFIGURATION', message: /LINK_SIGNING_KEYS = \(hidden\)/ }, bad)
  }
})

t.test('config: trusted proxies are address blocks', async (t) => {
  const read = (blocks: string) => readConfig({ ...env, SHUTTERFLEET_TRUSTED_PROXIES: blocks }).trustedProxies
  t.equal(readConfig(env).trustedProxies.length, 0, 'no proxy is trusted by default')
  t.equal(read('10.0.0.0/8, ::1').length, 2)
  t.throws(() => read('10.0.0.0/8,proxy.example'), { code: 'CONFIGURATION', message: /'proxy.example' is not/ })
})

t.test('config: reports all problems at once, with secrets hidden', async (t) => {
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

t.test('config: an OpenID Connect provider needs a client id', async (t) => {
  const provider = { ...env, SHUTTERFLEET_OIDC_ISSUER: 'https://id.example.com' }
  t.throws(() => readConfig(provider), { code: 'CONFIGURATION', message: /SHUTTERFLEET_OIDC_CLIENT_ID is not/ })
  t.equal(readConfig({ ...provider, SHUTTERFLEET_OIDC_CLIENT_ID: 'x' }).oidcClientId, 'x')
})

t.test('config: a claim of operators needs a provider, values, and operators in the console', (t) => {
  const [issuer, claim] = ['https://id.example', 'SHUTTERFLEET_OIDC_OPERATOR_CLAIM']
  const whole = {
    ...env,
    SHUTTERFLEET_OIDC_ISSUER: issuer,
    SHUTTERFLEET_OIDC_CLIENT_ID: 'console',
    [claim]: 'groups',
    SHUTTERFLEET_OIDC_OPERATOR_VALUES: 'ops,admins',
  }
  t.match(readConfig(whole), { oidcOperatorClaim: 'groups', oidcOperatorValues: ['ops', 'admins'] })
  t.match(readConfig(env), { oidcOperatorClaim: '', oidcOperatorValues: [] })
  for (const [change, message] of [
    [{ [claim]: '' }, /OIDC_OPERATOR_CLAIM is not/],
    [{ SHUTTERFLEET_OIDC_ISSUER: '' }, /OIDC_ISSUER is not/],
    [{ SHUTTERFLEET_OIDC_OPERATOR_VALUES: '' }, /neither SHUTTERFLEET_OIDC_OPERATOR_VALUES nor/],
    [{ SHUTTERFLEET_CONSOLE_OPERATORS: 'false' }, /CONSOLE_OPERATORS is false/],
  ] as const)
    t.throws(() => readConfig({ ...whole, ...change }), { code: 'CONFIGURATION', message })
  t.end()
})
