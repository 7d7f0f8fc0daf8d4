import t from 'tap'
import { createRefusalCache } from '#gateway/db/refusal-cache.ts'
import type { Refusal } from '#shared/db/check-request.ts'
import { testCaller } from '#test/helpers/gateway-context.ts'

const asker = { keyHash: Buffer.from('a key'), originHost: null }
const exhausted = (windowLeftMs: number): Refusal => ({
  ok: false,
  code: 'RATE_LIMIT_EXCEEDED',
  retryAfterSeconds: Math.ceil(windowLeftMs / 1000),
  windowLeftMs,
  caller: testCaller,
})

const start = () => {
  const clock = { nowMs: 5000 }
  return { clock, memory: createRefusalCache(() => clock.nowMs) }
}

t.test('refusal cache: remembers an exhausted minute for one second, for this key and origin only', async (t) => {
  const { clock, memory } = start()
  t.equal(memory.find(asker), undefined)
  await memory.queryAndCache(asker, async () => exhausted(30_000))
  t.match(memory.find(asker), { code: 'RATE_LIMIT_EXCEEDED', caller: testCaller })
  t.equal(memory.find({ ...asker, originHost: 'example.com' }), undefined)
  t.equal(memory.find({ ...asker, keyHash: Buffer.from('another') }), undefined)
  clock.nowMs += 999
  t.ok(memory.find(asker))
  clock.nowMs += 1
  t.equal(memory.find(asker), undefined)
})

t.test(
  'refusal cache: drops a refusal once the minute may be over, counted from the start of the database query',
  async (t) => {
    const { clock, memory } = start()
    await memory.queryAndCache(asker, async () => {
      clock.nowMs += 100
      return exhausted(400)
    })
    clock.nowMs += 299
    t.ok(memory.find(asker))
    clock.nowMs += 1
    t.equal(memory.find(asker), undefined)
  },
)

t.test('refusal cache: recomputes Retry-After at each request: never too early, at least one second', async (t) => {
  const { clock, memory } = start()
  await memory.queryAndCache(asker, async () => {
    clock.nowMs += 100
    return exhausted(2500)
  })
  t.equal(memory.find(asker)?.retryAfterSeconds, 3)
  clock.nowMs += 501
  t.equal(memory.find(asker)?.retryAfterSeconds, 2)
  await memory.queryAndCache(asker, async () => exhausted(300))
  t.equal(memory.find(asker)?.retryAfterSeconds, 1)
})

t.test(
  'refusal cache: remembers an unknown key for one second; an invalid one that may become valid is not remembered',
  async (t) => {
    const { clock, memory } = start()
    await memory.queryAndCache(asker, async () => ({ ok: false, code: 'INVALID_API_KEY', isUnknown: true }))
    t.match(memory.find(asker), { ok: false, code: 'INVALID_API_KEY' })
    clock.nowMs += 1000
    t.equal(memory.find(asker), undefined)
    await memory.queryAndCache(asker, async () => ({ ok: false, code: 'INVALID_API_KEY' }))
    t.equal(memory.find(asker), undefined)
  },
)

t.test('refusal cache: remembers no other refusal, success or error', async (t) => {
  const { memory } = start()
  for (const code of ['DOMAIN_NOT_ALLOWED', 'FEATURE_NOT_AVAILABLE', 'QUEUE_FULL', 'USAGE_LIMIT_EXCEEDED'] as const) {
    await memory.queryAndCache(asker, async () => ({ ok: false, code, windowLeftMs: 1000, caller: testCaller }))
    t.equal(memory.find(asker), undefined, code)
  }
  await memory.queryAndCache(asker, async () => ({ ok: true, caller: testCaller }))
  t.equal(memory.find(asker), undefined)
  await t.rejects(memory.queryAndCache(asker, () => Promise.reject(new Error('away'))))
  t.equal(memory.find(asker), undefined)
})

t.test('refusal cache: is bounded, and evicts the oldest entry first', async (t) => {
  const { memory } = start()
  const nth = (n: number) => ({ keyHash: Buffer.from(String(n)), originHost: null })
  for (let n = 0; n <= 10_000; n += 1) await memory.queryAndCache(nth(n), async () => exhausted(30_000))
  t.equal(memory.find(nth(0)), undefined)
  t.ok(memory.find(nth(1)))
  t.ok(memory.find(nth(10_000)))
})
