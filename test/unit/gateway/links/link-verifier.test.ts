import t from 'tap'
import { createLinkSecretDerivation } from '#shared/db/link-secrets.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { LinkNonces } from '#gateway/db/render-links.ts'
import { createClientLimit } from '#gateway/http/identification/client-limit.ts'
import { LinkVerifier } from '#gateway/links/link-verifier.ts'
import { readRenderLink, signRenderLink } from '#gateway/links/render-link.ts'

const keyId = '33333333-3333-4333-8333-333333333333'
const derive = createLinkSecretDerivation('a pepper')
const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const linkOf = (nonce: Buffer) => readRenderLink(signRenderLink(derive(keyId, nonce), { key_id: keyId }))
const client = { network: '192.0.2.1', site: '192.0.2.1' }
const codeOf = async (work: () => unknown) => {
  try {
    await work()
    return 'good'
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}

const start = (tokens = 3) => {
  const state = { nonces: { nonce: first, previousNonce: null } as LinkNonces | undefined, reads: 0, fails: false }
  const verifier = new LinkVerifier({
    derive,
    findKey: async () => {
      state.reads += 1
      if (state.fails) throw new AppError('SERVICE_UNAVAILABLE')
      return state.nonces
    },
    limit: createClientLimit({ burst: tokens, perMinute: 1, nowMs: () => 0 }),
  })
  return { state, admit: (nonce: Buffer) => codeOf(() => verifier.admit(linkOf(nonce), client)), verifier }
}

t.test('link verifier: a link of a known key is admitted without a read', async (t) => {
  const { state, admit } = start()
  for (let views = 0; views < 3; views += 1) t.equal(await admit(first), 'good')
  t.equal(state.reads, 1)
})

t.test(
  'link verifier: wrong signatures take the tokens of their client, right ones and faults of ours do not',
  async (t) => {
    const { state, admit } = start(2)
    state.fails = true
    for (let views = 0; views < 3; views += 1) t.equal(await admit(first), 'SERVICE_UNAVAILABLE')
    state.fails = false
    t.same(
      [await admit(second), await admit(second), await admit(second)],
      ['INVALID_SIGNATURE', 'INVALID_SIGNATURE', 'RATE_LIMIT_EXCEEDED'],
    )
    const { admit: again } = start(1)
    for (let views = 0; views < 3; views += 1) t.equal(await again(first), 'good')
    t.equal(await again(second), 'INVALID_SIGNATURE')
    t.equal(await again(second), 'RATE_LIMIT_EXCEEDED')
    t.equal(await again(first), 'good', 'what was verified before is admitted without a token')
  },
)

t.test('link verifier: what is cached admits a link, and what was read now confirms it', async (t) => {
  const { state, admit, verifier } = start()
  const confirm = (nonces: LinkNonces | undefined) => codeOf(() => verifier.confirm(linkOf(first), nonces, client))
  t.equal(await admit(first), 'good')
  t.equal(await confirm({ nonce: second, previousNonce: first }), 'good', 'the previous secret')
  t.equal(await confirm({ nonce: second, previousNonce: null }), 'INVALID_SIGNATURE')
  state.nonces = undefined
  t.equal(await admit(first), 'INVALID_SIGNATURE', 'it is no longer cached')
  t.equal(await confirm(undefined), 'INVALID_SIGNATURE')
})

t.test('link verifier: a secret follows from pepper, key and nonce', (t) => {
  const secret = derive(keyId, first)
  t.match(secret, /^lsk_[A-Za-z0-9_-]{43}$/)
  const others = [
    createLinkSecretDerivation('another pepper')(keyId, first),
    derive('44444444-4444-4444-8444-444444444444', first),
    derive(keyId, second),
  ]
  t.equal(new Set([secret, ...others]).size, 4)
  t.equal(createLinkSecretDerivation('a pepper')(keyId, first), secret)
  t.end()
})
