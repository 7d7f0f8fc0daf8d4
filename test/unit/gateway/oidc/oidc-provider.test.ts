import t from 'tap'
import { OidcProvider } from '#gateway/oidc/oidc-provider.ts'
import { SignInError } from '#gateway/oidc/sign-in-error.ts'
import { clientAt, parseHop } from '#shared/policy/client.ts'

t.test('oidc provider: one client holds a quarter of the hundred sign-ins at a time', async (t) => {
  const provider = new OidcProvider({
    // Nothing listens there.
    issuer: 'http://127.0.0.1:1',
    clientId: 'console',
    clientSecret: '',
    scopes: [],
    operators: { claim: '', values: [], readOnlyValues: [] },
    nowMs: () => 0,
  })
  const flow = { state: 's', nonce: 'n', verifier: 'v', returnPath: '/', cookie: '' }
  const signIn = async (address: string) => {
    const error: unknown = await provider
      .identify(flow, new URL('http://127.0.0.1/'), clientAt(parseHop(address)))
      .catch((thrown: unknown) => thrown)
    return error instanceof SignInError ? error.reason : String(error)
  }
  const many = Array.from({ length: 30 }, () => signIn('192.0.2.1'))
  const other = signIn('192.0.2.2')
  const reasons = await Promise.all(many)
  t.equal(reasons.filter((reason) => reason === 'busy').length, 5)
  t.equal(await other, 'provider', 'which others reach as far as it can be reached')
  t.equal(await signIn('192.0.2.1'), 'provider', 'places are free again')
})
