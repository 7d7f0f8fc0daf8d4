import { createHash, randomBytes, randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { admitWaiting } from '#ledger/relay.ts'
import { type CaptureEnd, changeCaptures } from '#shared/db/change-captures.ts'
import { deleteCapture } from '#gateway/db/captures.ts'
import { findSealedCapture } from '#shared/db/find-capture.ts'
import { expireObjects } from '#ledger/db/object-removals.ts'
import { requeueLost, requeueUnstarted } from '#ledger/db/requeue-captures.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { meterDifferences } from '#test/helpers/meter-differences.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'
import { sealTestDetails, testRecords } from '#test/helpers/record-seal.ts'

const server = await startPostgres(t)
const database = await server.createDatabase(25)
const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work))

const cacheKey = (text: string) => createHash('sha256').update(text).digest()
const sharing = (text: string, seconds = 600) => ({ sharing: { key: cacheKey(text), seconds } })

const accept = async (tenant: Tenant, more: Parameters<Tenant['capture']>[0] = {}) => {
  const capture = tenant.capture(more)
  const outcome = await acceptCapture(database, capture, { windowSize: 16 })
  return { id: capture.id, outcome, shared: outcome.ok ? (outcome.shared ?? 'own') : outcome.code }
}

const completedEnd = (id: string): Extract<CaptureEnd, { status: 'completed' }> => ({
  status: 'completed',
  objectKey: newObjectKey(id, new Date()),
  fileSize: 5,
  sha256: randomBytes(32).toString('hex'),
  mimeType: 'image/png',
  width: 10,
  height: 20,
  processingTimeMs: 7,
  targetStatus: 404,
  sealedResult: sealTestDetails(id, {
    finalUrl: 'https://example.com/end',
    warnings: [{ code: 'blank', message: 'm' }],
    metadata: { title: 'T', og: { type: 'website' } },
  }),
  timings: { total: 7 },
})
const failedEnd: CaptureEnd = { status: 'failed', code: 'TIMEOUT', message: 'slow' }

const end = (id: string, how: CaptureEnd = completedEnd(id)) =>
  changeCaptures(database, [id], () => ({ change: { attempts: 1, unendedStarts: 0, begins: true, end: how } }))
const find = async (tenant: Tenant, id: string) =>
  testRecords.openCapture((await findSealedCapture(database, { id, accountId: tenant.accountId }))!)
const usage = async ({ accountId }: Tenant) => {
  const [row] = await database.query<object>(
    `select reserved::integer, settled::integer, pending from usage join account_meter using (account_id) where account_id = $1`,
    [accountId],
  )
  return row
}
const noDifference = async (t: Test) => t.same(await database.query(meterDifferences), [])

// Contract: Charging
// Contract: Cache key
t.test(
  'accept sharing: concurrent identical requests are one capture and one charge; the others follow it and end with it',
  async (t) => {
    const tenant = await createTenant(database, { screenshots_per_month: 1, max_pending: 20 })
    // Open the connections first, so that the requests run concurrently.
    await times(20, () => database.query('select pg_sleep(0.02)'))
    const accepted = await times(20, () => accept(tenant, sharing('same')))
    const leaders = accepted.filter(({ shared }) => shared === 'own')
    const followers = accepted.filter(({ shared }) => shared === 'follows')
    t.same([leaders.length, followers.length], [1, 19])
    t.match(await usage(tenant), { reserved: 1, pending: 1 })
    t.same(await database.query('select capture_id as id from outbox where account_id = $1', [tenant.accountId]), [
      { id: leaders[0]!.id },
    ])
    t.match(await find(tenant, followers[0]!.id), { status: 'pending', cached: false })

    const { captures } = await end(leaders[0]!.id)
    t.same(
      captures.map(({ id }) => id).toSorted(),
      accepted.map(({ id }) => id).toSorted(),
      'all are returned as ended',
    )
    t.ok(captures.every(({ ended, status, objectKey }) => ended && status === 'completed' && objectKey !== null))
    const [first, second] = [await find(tenant, leaders[0]!.id), await find(tenant, followers[0]!.id)]
    const own = ['id', 'createdAt', 'startedAt', 'completedAt', 'expiresAt', 'cached']
    const image = (capture: object) =>
      Object.fromEntries(Object.entries(capture).filter(([name]) => !own.includes(name)))
    t.same(image(second), image(first), 'warnings, timings and all other fields that describe the image')
    t.same(first.metadata, { title: 'T', og: { type: 'website' } })
    t.same([first.cached, second.cached], [false, true])
    t.match(await usage(tenant), { reserved: 0, settled: 1, pending: 0 })
    await noDifference(t)
  },
)

t.test('accept sharing: followers fail with the capture that they follow; a failed result is not shared', async (t) => {
  const tenant = await createTenant(database)
  const [leader, follower] = [await accept(tenant, sharing('fails')), await accept(tenant, sharing('fails'))]
  await end(leader.id, failedEnd)
  t.match(await find(tenant, follower.id), {
    status: 'failed',
    error: { code: 'TIMEOUT', message: 'slow' },
    cached: false,
  })
  t.match(await usage(tenant), { reserved: 0, settled: 0 })
  t.equal((await accept(tenant, sharing('fails'))).shared, 'own')
  await noDifference(t)
})

t.test('accept sharing: a follower that is accepted while its capture ends always ends too', async (t) => {
  const tenant = await createTenant(database)
  for (let turn = 0; turn < 25; turn += 1) {
    const leader = await accept(tenant, sharing(`race ${turn}`))
    const [, ...others] = await Promise.all([
      end(leader.id, turn % 2 === 0 ? completedEnd(leader.id) : failedEnd),
      ...Array.from({ length: 6 }, () => accept(tenant, sharing(`race ${turn}`))),
    ])
    const again = others.filter(({ shared }) => shared === 'own')
    t.ok(again.length <= turn % 2, 'only a failed capture runs again')
    for (const { id } of again) await end(id)
  }
  const running = `select id from capture where account_id = $1 and status not in ('completed', 'failed')`
  t.same(await database.query(running, [tenant.accountId]), [])
  await noDifference(t)
})

// Contract: Cache key
t.test(
  'accept sharing: a hit is a separate record, completed at once, free, and served with the quota used up',
  async (t) => {
    const tenant = await createTenant(database, {
      screenshots_per_month: 1,
      rate_limit_per_minute: 1000,
      max_pending: 1,
    })
    const first = await accept(tenant, sharing('hit'))
    await end(first.id)
    const hit = await accept(tenant, sharing('hit'))
    t.match(hit, { shared: 'hit', outcome: { ok: true, admitted: false, caller: { usage: { remaining: 0 } } } })
    const [source, found] = [await find(tenant, first.id), await find(tenant, hit.id)]
    t.match(found, {
      status: 'completed',
      cached: true,
      objectKey: source.objectKey,
      sha256: source.sha256,
      targetStatus: 404,
      warnings: source.warnings,
      timings: source.timings,
      metadata: { title: 'T', og: { type: 'website' } },
      processingTimeMs: 7,
      createdAt: found.completedAt,
    })
    t.ok(found.expiresAt! > source.expiresAt!, 'it has its own retention')
    const [object] = await database.query<{ same: boolean }>(
      'select o.expires_at = c.expires_at as same from stored_object o, capture c where o.key = c.object_key and c.id = $1',
      [hit.id],
    )
    t.same(object, { same: true }, 'the object lives as long as its last owner')
    t.match(await usage(tenant), { reserved: 0, settled: 1, pending: 0 })
    t.equal((await accept(tenant, sharing('other'))).shared, 'USAGE_LIMIT_EXCEEDED')
    t.equal((await accept(tenant)).shared, 'USAGE_LIMIT_EXCEEDED', 'a request without sharing gets no hit')
    t.equal((await accept(await createTenant(database), sharing('hit'))).shared, 'own', 'another account gets no hit')
    await noDifference(t)
  },
)

// Contract: Cache key
t.test(
  'accept sharing: a result is shared for the shorter of both cache times, while the record and its object exist',
  async (t) => {
    const tenant = await createTenant(database)
    const [storedSeconds, requestSeconds] = [100, 50]
    const aged = async (seconds: number, change = '') => {
      const text = randomUUID()
      const { id } = await accept(tenant, sharing(text, storedSeconds))
      await end(id)
      await database.query(`update capture set completed_at = completed_at - $2 * interval '1 second' where id = $1`, [
        id,
        seconds,
      ])
      if (change) await database.query(change, [id])
      return async (maxAgeSeconds: number) => (await accept(tenant, sharing(text, maxAgeSeconds))).shared
    }
    t.same(
      [await (await aged(40))(requestSeconds), await (await aged(60))(requestSeconds)],
      ['hit', 'own'],
      'the cache time of the request',
    )
    t.same(
      [await (await aged(90))(1000), await (await aged(110))(1000)],
      ['hit', 'own'],
      'the cache time of the stored capture',
    )
    t.equal(await (await aged(0, 'update capture set expires_at = now() where id = $1'))(requestSeconds), 'own')
    const objectOf = 'where key = (select object_key from capture where id = $1)'
    t.equal(await (await aged(0, `delete from stored_object ${objectOf}`))(requestSeconds), 'own')
    t.equal(await (await aged(0, `update stored_object set expires_at = now() ${objectOf}`))(requestSeconds), 'own')
  },
)

// Contract: Delete
t.test(
  'accept sharing: neither a deleted capture nor a hit on it serves further hits; the hit keeps its image',
  async (t) => {
    const tenant = await createTenant(database)
    const first = await accept(tenant, sharing('gone'))
    await end(first.id)
    const hit = await accept(tenant, sharing('gone'))
    t.equal(hit.shared, 'hit')
    t.equal(await deleteCapture(database, { id: first.id, accountId: tenant.accountId }), true)
    t.equal((await accept(tenant, sharing('gone'))).shared, 'own')
    t.match(await find(tenant, hit.id), { status: 'completed', cached: true }, 'the hit keeps the shared object')
  },
)

// Contract: Cache key
t.test('accept sharing: an expired object is removed once, after its last owner has expired', async (t) => {
  const isolatedDatabase = await server.createDatabase()
  const tenant = await createTenant(isolatedDatabase)
  const one = async () => {
    const capture = tenant.capture(sharing('kept'))
    await acceptCapture(isolatedDatabase, capture, { windowSize: 16 })
    return capture.id
  }
  const first = await one()
  await changeCaptures(isolatedDatabase, [first], () => ({
    change: { attempts: 1, unendedStarts: 0, begins: true, end: completedEnd(first) },
  }))
  await isolatedDatabase.query(`update stored_object set expires_at = now() + interval '1 second'`)
  await isolatedDatabase.query(`update capture set expires_at = now() + interval '1 second'`)
  const hit = await one()
  await isolatedDatabase.query('update capture set expires_at = now() where id = $1', [first])
  t.equal(await expireObjects(isolatedDatabase, 10), 0)
  await isolatedDatabase.query(
    "update stored_object set expires_at = (select expires_at - interval '1 hour' from capture where id = $1)",
    [hit],
  )
  t.equal(await expireObjects(isolatedDatabase, 10), 1)
})

t.test('accept sharing: followers count against the queue bound and advance only with their capture', async (t) => {
  const tenant = await createTenant(database, { max_pending: 3 })
  const leader = await accept(tenant, sharing('bound'))
  const followers = [
    await accept(tenant, sharing('bound')),
    await accept(tenant, sharing('bound')),
    await accept(tenant, sharing('bound')),
  ]
  t.match((await accept(tenant, sharing('bound'))).outcome, {
    ok: false,
    code: 'QUEUE_FULL',
    retryAfterSeconds: 10,
  })
  await database.query('delete from outbox where account_id = $1', [tenant.accountId])
  await requeueLost(database, 100)
  await requeueUnstarted(database, { olderThanMs: -1000, limit: 100 })
  t.same(await database.query('select capture_id as id from outbox where account_id = $1', [tenant.accountId]), [
    { id: leader.id },
  ])
  const { captures } = await end(followers[0]!.id, failedEnd)
  t.same(captures, [], 'a report on a follower changes nothing')
  t.match(await find(tenant, followers[0]!.id), { status: 'pending' })
  await end(leader.id)
})

for (const begun of [false, true]) {
  const state = begun ? 'runs' : 'waits'
  t.test(
    `accept sharing: the oldest follower of a deleted capture that ${state} replaces it, under the same charge`,
    async (t) => {
      const tenant = await createTenant(database, { screenshots_per_month: 1 })
      const leader = await accept(tenant, sharing('goes'))
      const [oldest, other] = [await accept(tenant, sharing('goes')), await accept(tenant, sharing('goes'))]
      if (begun) {
        const begins = { change: { attempts: 1, unendedStarts: 1, begins: true } }
        await changeCaptures(database, [leader.id], () => begins)
      }
      t.equal(await deleteCapture(database, { id: leader.id, accountId: tenant.accountId }), true)
      t.match(await usage(tenant), { reserved: 1, settled: 0, pending: 1 })
      const waits = 'select capture_id as id, relay_at as "relayAt" from outbox where account_id = $1'
      t.same(await database.query(waits, [tenant.accountId]), [{ id: oldest.id, relayAt: null }])
      t.equal((await accept(tenant, sharing('goes'))).shared, 'follows', 'it is found under the same key')
      t.equal(await admitWaiting(database, { windowSize: 16, limit: 10 }), 1)
      const { captures } = await end(oldest.id)
      t.equal(captures.length, 3)
      t.match(await find(tenant, other.id), { status: 'completed', cached: true })
      t.match(await usage(tenant), { reserved: 0, settled: 1, pending: 0 })
      t.equal((await accept(tenant)).shared, 'USAGE_LIMIT_EXCEEDED', 'the quota of one is used up, not exceeded')
      t.match(
        await database.query('select admitted, waiting, processing from lane_meter where account_id = $1', [
          tenant.accountId,
        ]),
        [{ admitted: 0, waiting: 0, processing: 0 }],
      )
    },
  )
}
