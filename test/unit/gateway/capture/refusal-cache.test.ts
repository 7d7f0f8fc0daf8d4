import t from 'tap'
import { createRefusalCache } from '#gateway/capture/refusal-cache.ts'
import type { Refusal } from '#shared/db/check-request.ts'
import { testCaller } from '#test/helpers/gateway-context.ts'

const identity = { keyHash: Buffer.from('a key'), originHost: null }
const exhausted = (windowLeftMs: number): Refusal => ({
  ok: false,
  code: 'RATE_LIMIT_EXCEEDED',
  retryAfterSeconds: Math.ceil(windowLeftMs / 1000),
  windowLeftMs,
  caller: testCaller,
})

const start = () => {
  const clock = { nowMs: 5000 }
  return { clock, cache: createRefusalCache(() => clock.nowMs) }
}

t.test('refusal cache: caches an exhausted minute for a second, only for this key and origin', async (t) => {
  const { clock, cache } = start()
  t.equal(cache.find(identity), undefined)
  await cache.queryAndCache(identity, async () => exhausted(30_000))
  t.match(cache.find(identity), { code: 'RATE_LIMIT_EXCEEDED', caller: testCaller })
  t.equal(cache.find({ ...identity, originHost: 'example.com' }), undefined)
  t.equal(cache.find({ ...identity, keyHash: Buffer.from('another') }), undefined)
  clock.nowMs += 999
  t.ok(cache.find(identity))
  clock.nowMs += 1
  t.equal(cache.find(identity), undefined)
})

t.test('refusal cache: expires once the minute may be over, counted from the start of the query', async (t) => {
  const { clock, cache } = start()
  await cache.queryAndCache(identity, async () => {
    clock.nowMs += 100
    return exhausted(400)
  })
  clock.nowMs += 299
  t.ok(cache.find(identity))
  clock.nowMs += 1
  t.equal(cache.find(identity), undefined)
})

t.test('refusal cache: counts Retry-After down, never too early and at least a second', async (t) => {
  const { clock, cache } = start()
  await cache.queryAndCache(identity, async () => {
    clock.nowMs += 100
    return exhausted(2500)
  })
  t.equal(cache.find(identity)?.retryAfterSeconds, 3)
  clock.nowMs += 501
  t.equal(cache.find(identity)?.retryAfterSeconds, 2)
  await cache.queryAndCache(identity, async () => exhausted(300))
  t.equal(cache.find(identity)?.retryAfterSeconds, 1)
})

t.test('refusal cache: caches an unknown key for a second, but not one that may become valid again', async (t) => {
  const { clock, cache } = start()
  await cache.queryAndCache(identity, async () => ({ ok: false, code: 'INVALID_API_KEY', isUnknown: true }))
  t.match(cache.find(identity), { ok: false, code: 'INVALID_API_KEY' })
  clock.nowMs += 1000
  t.equal(cache.find(identity), undefined)
  await cache.queryAndCache(identity, async () => ({ ok: false, code: 'INVALID_API_KEY' }))
  t.equal(cache.find(identity), undefined)
})

t.test('refusal cache: caches nothing else', async (t) => {
  const { cache } = start()
  for (const code of ['DOMAIN_NOT_ALLOWED', 'FEATURE_NOT_AVAILABLE', 'QUEUE_FULL', 'USAGE_LIMIT_EXCEEDED'] as const) {
    await cache.queryAndCache(identity, async () => ({ ok: false, code, windowLeftMs: 1000, caller: testCaller }))
    t.equal(cache.find(identity), undefined, code)
  }
  await cache.queryAndCache(identity, async () => ({ ok: true, caller: testCaller }))
  t.equal(cache.find(identity), undefined)
  await t.rejects(cache.queryAndCache(identity, () => Promise.reject(new Error('away'))))
  t.equal(cache.find(identity), undefined)
})

t.test('refusal cache: is bounded and evicts the oldest entry', async (t) => {
  const { cache } = start()
  const nth = (n: number) => ({ keyHash: Buffer.from(String(n)), originHost: null })
  for (let n = 0; n <= 10_000; n += 1) await cache.queryAndCache(nth(n), async () => exhausted(30_000))
  t.equal(cache.find(nth(0)), undefined)
  t.ok(cache.find(nth(1)))
  t.ok(cache.find(nth(10_000)))
})
