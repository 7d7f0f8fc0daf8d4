import t from 'tap'
import { adminActors, createTokenCheck } from '#gateway/admin/admin-tokens.ts'
import { readConfig } from '#gateway/context/config.ts'
import { adminSettings } from '#shared/config/settings/admin.ts'

const [own, alice, bob] = ['the-only-token-that-was', 'token-of-alice-0001', 'token-of-bob-000002']
const named = [
  { name: 'alice', token: alice },
  { name: 'bob', token: bob },
]

const start = () => {
  const clock = { ms: 1000 }
  const find = createTokenCheck(adminActors(own, named), () => clock.ms)
  const errorCode = (authorization: string | undefined, network = 'a') => {
    try {
      return find(authorization, () => ({ network, site: network }))
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  return { clock, find, errorCode, use: (token: string, network?: string) => errorCode(`Bearer ${token}`, network) }
}

t.test('admin tokens: accepts several tokens at a time, each with the name of its owner', async (t) => {
  const { errorCode, use } = start()
  t.same([use(own), use(alice), use(bob)], ['admin', 'admin:alice', 'admin:bob'])
  t.equal(errorCode(`bearer  ${alice}`), 'admin:alice')
  for (const wrong of [`${alice}x`, alice.slice(0, -1), 'alice', `alice:${alice}`]) {
    t.equal(use(wrong, wrong), 'INVALID_API_KEY', wrong)
  }
  t.equal(adminActors('', []).size, 0)
  t.same([...adminActors('', named).values()], ['admin:alice', 'admin:bob'])
})

t.test('admin tokens: ten wrong tokens of a client delay its further wrong ones, never a valid one', async (t) => {
  const { clock, find, use } = start()
  for (let n = 0; n < 10; n += 1) t.equal(use(`guess-${n}`), 'INVALID_API_KEY')
  const other = () => ({ network: 'a', site: 'a' })
  t.throws(() => find('Bearer guess', other), { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 6 })
  t.equal(use(alice), 'admin:alice', 'a valid token behind the same proxy is accepted')
  t.equal(use('guess', 'b'), 'INVALID_API_KEY', 'others are not limited')
  clock.ms += 6000
  t.same([use('guess'), use('guess'), use(alice)], ['INVALID_API_KEY', 'RATE_LIMIT_EXCEEDED', 'admin:alice'])
})

t.test('admin tokens: neither valid tokens nor requests without a token count against the limit', async (t) => {
  const { errorCode, use } = start()
  for (let n = 0; n < 50; n += 1) {
    t.equal(use(alice), 'admin:alice')
    t.equal(errorCode(undefined), 'INVALID_API_KEY')
    t.equal(errorCode('Basic YTpi'), 'INVALID_API_KEY')
  }
  t.equal(use('guess'), 'INVALID_API_KEY')
})

t.test(
  'admin tokens: reads named tokens from one setting, and keeps the tokens out of its error messages',
  async (t) => {
    const read = (value: string) => adminSettings.adminTokens.parse(value)
    t.same(read(''), { ok: true, value: [] })
    t.same(read(`alice:${alice}, bob:${bob}`), { ok: true, value: named })
    t.same(read(`a.b@c-d_e:x:y:zzzzzzzzzzzzzzz\n`), {
      ok: true,
      value: [{ name: 'a.b@c-d_e', token: 'x:y:zzzzzzzzzzzzzzz' }],
    })
    for (const wrong of [
      alice,
      `alice:${'x'.repeat(15)}`,
      `:${alice}`,
      `al ice:${alice}`,
      `${'n'.repeat(65)}:${alice}`,
    ]) {
      t.match(read(wrong), { ok: false, problem: /NAME:TOKEN.*16 characters/ }, wrong)
    }
    for (const twice of [`alice:${alice},alice:${bob}`, `alice:${alice},bob:${alice}`]) {
      t.match(read(twice), { ok: false, problem: /once/ })
    }
    t.throws(() => readConfig({ SHUTTERFLEET_ADMIN_TOKENS: 'alice:secret' }), {
      message: /^(?!.*alice:secret).*SHUTTERFLEET_ADMIN_TOKENS/s,
    })
  },
)
