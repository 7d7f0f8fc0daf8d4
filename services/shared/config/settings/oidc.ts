import { list, oneOf, parsed, text } from './setting.ts'

/** An issuer without TLS is accepted on this machine alone: with one elsewhere, whoever is on the way could sign in as anybody. */
const isSafeIssuer = (issuer: string): boolean => {
  const url = URL.parse(issuer)
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') return false
  return (
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname))
  )
}

/** Settings of the provider with which people sign in to the console. */
export const oidcSettings = {
  oidcIssuer: parsed(
    'OIDC_ISSUER',
    {
      kind: 'address (https)',
      help: 'issuer of the OpenID Connect provider with which members sign in to the console, exactly as it names itself; empty: sign-in links alone',
      fallback: '',
      problem: 'must be an address that begins with https://, or with http:// on this machine, without query',
    },
    (value) => (value === '' || isSafeIssuer(value) ? value : undefined),
  ),
  oidcClientId: text('OIDC_CLIENT_ID', {
    help: 'id of the console at the provider, which has to allow {SHUTTERFLEET_PUBLIC_URL}/console/sign-in/oidc/callback as its redirect URI; required with SHUTTERFLEET_OIDC_ISSUER',
    fallback: '',
  }),
  oidcClientSecret: text('OIDC_CLIENT_SECRET', {
    help: 'secret of the console at the provider; empty: a public client, protected by PKCE alone',
    fallback: '',
    secret: true,
  }),
  oidcScopes: list('OIDC_SCOPES', {
    help: 'scopes requested in addition to `openid`',
    fallback: 'email',
  }),
  oidcName: text('OIDC_NAME', {
    help: 'name of the provider on the button “Sign in with …”',
    fallback: 'OpenID Connect',
  }),
  oidcIdentity: oneOf('OIDC_IDENTITY', {
    help: 'what finds a member at the first sign-in: `email`, which the provider has to have verified, or the `subject` that the member was added with; from then on it is the subject',
    fallback: 'email',
    values: ['email', 'subject'],
  }),
  oidcOperatorClaim: text('OIDC_OPERATOR_CLAIM', {
    help: 'claim of the ID token or of the user info that makes a person an operator by one of the values below, such as `groups`; empty: operators sign in with links alone',
    fallback: '',
  }),
  oidcOperatorValues: list('OIDC_OPERATOR_VALUES', {
    help: 'values of the claim, which is a text or a list of texts, that make an operator; compared exactly',
    fallback: '',
  }),
  oidcReadOnlyOperatorValues: list('OIDC_READ_ONLY_OPERATOR_VALUES', {
    help: 'values of the claim that make an operator who changes nothing; a person with a value of both kinds may change',
    fallback: '',
  }),
}
