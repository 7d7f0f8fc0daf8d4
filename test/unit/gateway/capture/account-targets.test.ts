import t from 'tap'
import { StaleTargets, targetErrors, withAccountTargets } from '#gateway/capture/account-targets.ts'
import { noTargets, TargetsCache } from '#gateway/db/targets-cache.ts'
import { toRequestError } from '#gateway/http/errors.ts'
import { readTargetLists } from '#shared/policy/target-lists.ts'

const issuer = { keyHash: Buffer.from('a key') }
const stored = (name: string) => ({ texts: { allow: [], deny: [name] }, sha256: Buffer.from(name) })
const stale = (name: string) =>
  new StaleTargets({ ok: false, code: 'SERVICE_UNAVAILABLE', ...(name !== '' && { targets: stored(name) }) })

t.test(
  'account targets: accepts again, counted, with the lists that the accept statement returned, and keeps them',
  async (t) => {
    const cache = new TargetsCache()
    const tries: unknown[] = []
    const accept = (current: string) =>
      withAccountTargets(cache, { issuer, isCounted: false }, async ({ texts }, isCounted) => {
        const sealed = texts?.deny[0] ?? ''
        tries.push([sealed, isCounted])
        if (sealed !== current) throw stale(current)
        return 'accepted'
      })
    t.equal(await accept(''), 'accepted')
    t.equal(await accept('a.example'), 'accepted')
    t.equal(await accept('a.example'), 'accepted')
    t.equal(await accept(''), 'accepted')
    const [none, first] = [
      ['', false],
      ['a.example', false],
    ]
    t.same(tries, [none, none, ['a.example', true], first, first, ['', true]])
    t.equal(cache.find(issuer), noTargets, 'an account without lists takes no room')
  },
)

t.test(
  'account targets: is unavailable if the lists change with each of three tries, and passes other errors on',
  async (t) => {
    let tries = 0
    const by = { issuer, isCounted: true }
    const changing = withAccountTargets(new TargetsCache(), by, async () => {
      tries += 1
      throw stale(`a${tries}.example`)
    })
    await t.rejects(
      changing.catch((thrown: unknown) => Promise.reject(toRequestError(thrown).error)),
      {
        code: 'SERVICE_UNAVAILABLE',
      },
    )
    t.equal(tries, 3)
    await t.rejects(
      withAccountTargets(new TargetsCache(), by, () => Promise.reject(new TypeError('x'))),
      TypeError,
    )
  },
)

t.test('account targets: are cached by the account that a session acts for, else by key', async (t) => {
  const cache = new TargetsCache()
  cache.store({ ...issuer, accountId: 'one' }, stored('a.example'))
  t.equal(cache.find({ ...issuer, accountId: 'two' }), noTargets)
  t.equal(cache.find(issuer), noTargets)
  t.match(cache.find({ keyHash: null, accountId: 'one' }), stored('a.example'))
})

t.test('account targets: the errors of a request name its page and its proxy', async (t) => {
  const texts = { allow: [], deny: ['*.a.example', 'p.example:1080'] }
  const targets = { ...noTargets, lists: readTargetLists(texts) }
  t.equal(targetErrors(targets, { url: 'https://a.example/' }), undefined)
  t.equal(targetErrors(targets, {}), undefined, 'no page')
  const proxy = 'socks5://u:p@P.example'
  t.match(targetErrors(targets, { url: 'https://B.A.Example./', proxy }, 'urls.3'), {
    'urls.3': [/entry \*\.a\.example of/],
    proxy: [/entry p\.example:1080 of/],
  })
})
