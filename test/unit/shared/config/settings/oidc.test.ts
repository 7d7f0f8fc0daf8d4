import t from 'tap'
import { readEnv } from '#shared/config/read-env.ts'
import { oidcSettings } from '#shared/config/settings/oidc.ts'

const issuerFrom = (issuer: string) => readEnv(oidcSettings, { SHUTTERFLEET_OIDC_ISSUER: issuer }).oidcIssuer

t.test('oidc settings: sign-in links alone by default', (t) => {
  t.match(readEnv(oidcSettings, {}), {
    oidcIssuer: '',
    oidcClientSecret: '',
    oidcScopes: ['email'],
    oidcIdentity: 'email',
  })
  t.end()
})

t.test('oidc settings: the issuer is kept as it is written, and needs TLS unless it is on this machine', (t) => {
  for (const issuer of [
    'https://id.example.com',
    'https://id.example.com/',
    'http://127.0.0.1:5556/dex',
    'http://[::1]:1',
  ])
    t.equal(issuerFrom(issuer), issuer)
  for (const issuer of [
    'http://id.example.com',
    'http://127.0.0.1.example.com',
    'https://a:b@id.example.com',
    'https://id.example.com?x=1',
    'https://id.example.com#x',
    'id.example.com',
    'ftp://127.0.0.1',
  ])
    t.throws(() => issuerFrom(issuer), { code: 'CONFIGURATION' }, issuer)
  t.end()
})
