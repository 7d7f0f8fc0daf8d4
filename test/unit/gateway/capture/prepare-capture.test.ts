import t from 'tap'
import { prepareCapture } from '#gateway/capture/prepare-capture.ts'
import type { Pool } from '#shared/capture/lane.ts'
import { parseCapture } from '#gateway/parameters/parse-capture.ts'
import { sealedCodec } from '#shared/queue/messages.ts'
import { open } from '#shared/queue/seal.ts'
import { createTestContext } from '#test/helpers/gateway-context.ts'

const prepare = async (parameters: Readonly<Record<string, unknown>>) => {
  const context = createTestContext()
  const parsed = parseCapture(parameters, { allow: [], hasStealth: true })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults))
  const id = crypto.randomUUID()
  const request = { parsed, keyHash: Buffer.alloc(32), originHost: null, idempotency: undefined, caller: undefined }
  const capture = await prepareCapture(context, { id, lane: 'normal', request })
  const openWith = (pool: Pool) => sealedCodec.decode(open([context.openingKeys[pool]], id, capture.sealed))
  return { capture, openWith }
}

t.test(
  "a capture with a caller's proxy is sealed for its own pool alone, and its password shown to nobody",
  async (t) => {
    const proxy = 'socks5://user:s3cr3t@proxy.example.com:1080'
    const { capture, openWith } = await prepare({ url: 'https://example.com/', proxy })
    t.match(capture, { pool: 'proxied', features: ['proxy'] })
    t.equal(openWith('proxied').options.proxy, proxy)
    t.throws(() => openWith('standard'), { code: 'JOB_FAILED' })
    t.equal(capture.options['proxy'], 'socks5://user:***@proxy.example.com:1080')
    t.notMatch(JSON.stringify({ ...capture, sealed: '' }), 's3cr3t')
  },
)

t.test('prepare capture: a capture with stealth is sealed for the workers with full Chromium alone', async (t) => {
  const { capture, openWith } = await prepare({ url: 'https://example.com/', stealth: true })
  t.match(capture, { pool: 'stealth', features: ['stealth'] })
  t.equal(openWith('stealth').options.stealth, true)
  t.throws(() => openWith('standard'), { code: 'JOB_FAILED' })
})

t.test('prepare capture: every other capture goes to the pool of all', async (t) => {
  const { capture, openWith } = await prepare({ url: 'https://example.com/' })
  t.equal(capture.pool, 'standard')
  t.equal(openWith('standard').options.url, 'https://example.com/')
  t.throws(() => openWith('proxied'), { code: 'JOB_FAILED' })
})

// Contract: Time budget
t.test('prepare capture: an attempt has the time-out, the delay and 20 seconds', async (t) => {
  const budgetOf = async (parameters: object) =>
    (await prepare({ url: 'https://example.com/', ...parameters })).capture.budgetMs
  t.equal(await budgetOf({}), 50_000)
  t.equal(await budgetOf({ timeout: 5 }), 25_000)
  t.equal(await budgetOf({ timeout: 60, delay: 10 }), 90_000)
})
