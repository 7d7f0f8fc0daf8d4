import t from 'tap'
import { type IssuedKeys, RenewedKeys } from '#shared/storage/s3-keys.ts'

const hourMs = 3_600_000

/** Keys of an hour, numbered by issue, from a source that fails while `fault` is set. */
const issuer = (lifeMs: number | undefined = hourMs, recheckMs?: number) => {
  const world = { nowMs: 1_000_000, issued: 0, fault: undefined as Error | undefined }
  const source = async (): Promise<IssuedKeys> => {
    if (world.fault) throw world.fault
    world.issued += 1
    const keys = { accessKey: `key ${world.issued}`, secretKey: 'secret', sessionToken: 'token' }
    return { keys, expiresAtMs: lifeMs && world.nowMs + lifeMs }
  }
  const renewals: (number | undefined)[] = []
  const failures: unknown[] = []
  const renewed = (expiresAtMs?: number) => void renewals.push(expiresAtMs)
  const failed = (cause: unknown) => void failures.push(cause)
  const ring = new RenewedKeys({ source, recheckMs, renewed, failed, nowMs: () => world.nowMs, random: () => 0 })
  const current = async () => (await ring.current()).accessKey
  /** The keys after a renewal that this use may have begun. */
  const settled = async () => {
    await current()
    await new Promise(setImmediate)
    return current()
  }
  return { world, ring, current, settled, renewals, failures }
}

t.test('s3 keys: are requested once for simultaneous uses, and renewed after half of their time', async (t) => {
  const { world, current, settled } = issuer()
  t.strictSame(await Promise.all([current(), current(), current()]), ['key 1', 'key 1', 'key 1'])
  world.nowMs += hourMs / 2 - 1
  t.equal(await settled(), 'key 1')
  world.nowMs += 1
  t.equal(await current(), 'key 1', 'no use waits for a renewal while the keys are valid')
  t.equal(await settled(), 'key 2')
  t.equal(world.issued, 2)
})

t.test('s3 keys: are used until they expire while renewals fail, which are retried with back-off', async (t) => {
  const { world, current, settled } = issuer()
  await current()
  world.fault = new Error('STS is down')
  world.nowMs += hourMs / 2
  t.equal(await settled(), 'key 1')
  world.fault = undefined
  t.equal(await settled(), 'key 1', 'not retried within the first half second')
  world.nowMs += 500
  t.equal(await settled(), 'key 2')

  world.fault = new Error('STS is down')
  world.nowMs += hourMs - 10_000
  await t.rejects(current(), { code: 'SERVICE_UNAVAILABLE', message: /no valid keys: Error: STS is down/ })
})

t.test('s3 keys: each renewal reports when the keys expire, or why it failed', async (t) => {
  const { world, settled, renewals, failures } = issuer()
  await settled()
  world.fault = new Error('STS is down')
  world.nowMs += hourMs / 2
  for (let uses = 0; uses < 3; uses += 1) await settled()
  t.strictSame(failures, [world.fault], 'uses in between, which begin no renewal, report none')
  world.nowMs += 500
  await settled()
  t.equal(failures.length, 2)
  world.fault = undefined
  world.nowMs += 1000
  await settled()
  t.equal(failures.length, 2)
  t.strictSame(renewals, [1_000_000 + hourMs, world.nowMs + hourMs])
})

t.test('s3 keys: that the store refused are renewed for the caller, at most every ten seconds', async (t) => {
  const { world, ring, current } = issuer()
  const first = await ring.current()
  const renewed = ring.refused(first)
  t.equal(await current(), 'key 1', 'others, whose keys it may not concern, do not wait')
  await renewed
  t.equal(await current(), 'key 2')
  await ring.refused(first)
  t.equal(await current(), 'key 2', 'a late report about earlier keys')
  await ring.refused(await ring.current())
  t.equal(await current(), 'key 2', 'again within ten seconds')
  world.nowMs += 10_000
  world.fault = new Error('STS is down')
  await ring.refused(await ring.current())
  t.equal(await current(), 'key 2', 'valid keys are not given up for a refusal that may have another cause')
})

t.test('s3 keys: without an expiry are read again, and stay the same object if they have not changed', async (t) => {
  const keys = { accessKey: 'key', secretKey: 'secret' }
  let reads = 0
  const source = async () => {
    reads += 1
    return { keys: { ...keys } }
  }
  let nowMs = 0
  const ring = new RenewedKeys({ source, recheckMs: 1000, nowMs: () => nowMs })
  const first = await ring.current()
  nowMs = 1000
  await ring.current()
  await new Promise(setImmediate)
  t.equal(reads, 2)
  t.equal(await ring.current(), first)
})

t.test(
  's3 keys: of a source that is read again are new at the first use after it changed, however long ago',
  async (t) => {
    const { world, current } = issuer(undefined, 1000)
    t.equal(await current(), 'key 1')
    world.nowMs += 999
    t.equal(await current(), 'key 1')
    world.nowMs += hourMs / 4
    t.equal(await current(), 'key 2')
  },
)

t.test('s3 keys: that are issued in their last seconds are not used', async (t) => {
  await t.rejects(issuer(10_000).current(), { code: 'SERVICE_UNAVAILABLE', message: /have expired/ })
})
