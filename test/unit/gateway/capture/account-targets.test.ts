import t from 'tap'
import { acceptWithTargets, targetErrors } from '#gateway/capture/account-targets.ts'
import type { AcceptOutcome } from '#gateway/db/accept-capture.ts'
import { noTargets, TargetsCache } from '#gateway/db/targets-cache.ts'
import { readTargetLists } from '#shared/policy/target-lists.ts'
import { testCaller } from '#test/helpers/gateway-context.ts'

const issuer = { keyHash: Buffer.from('a key') }
const stored = (name: string) => ({ texts: { allow: [], deny: [name] }, sha256: Buffer.from(name) })
const accepted = { ok: true, caller: testCaller, createdAt: '', admitted: true } as const
const stale = (name: string) =>
  ({ ok: false, code: 'SERVICE_UNAVAILABLE', ...(name !== '' && { targets: stored(name) }) }) as const

t.test(
  'account targets: accepts again, counted, with the lists that the accept statement returned, and keeps them',
  async (t) => {
    const cache = new TargetsCache()
    const tries: unknown[] = []
    const accept = (current: string) =>
      acceptWithTargets(
        cache,
        { ...issuer, isCounted: false },
        async ({ texts }, isCounted): Promise<AcceptOutcome> => {
          const sealed = texts?.deny[0] ?? ''
          tries.push([sealed, isCounted])
          return sealed === current ? accepted : stale(current)
        },
      )
    for (const current of ['', 'a.example', 'a.example', '']) t.equal(await accept(current), accepted)
    const [none, first] = [
      ['', false],
      ['a.example', false],
    ]
    t.same(tries, [none, none, ['a.example', true], first, first, ['', true]])
    t.equal(cache.find(issuer), noTargets, 'an account without lists takes no room')
  },
)

t.test('account targets: are refused if they change with each of three tries; other refusals at once', async (t) => {
  for (const [more, expected] of [
    [{}, 3],
    [{ keyState: 'moving' }, 1],
    [{ code: 'QUEUE_FULL' }, 1],
  ] as const) {
    let tries = 0
    const refused = await acceptWithTargets(new TargetsCache(), { ...issuer, isCounted: true }, async () => {
      tries += 1
      return { ...stale(`a${tries}.example`), ...more }
    })
    t.match(refused, { ok: false, code: 'SERVICE_UNAVAILABLE', ...more })
    t.equal(tries, expected)
  }
})

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
