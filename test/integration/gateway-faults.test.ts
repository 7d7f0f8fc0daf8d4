import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { type CaptureEnd, changeCaptures } from '#shared/db/change-captures.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { relayWakeupSubject, poolWakeupSubject } from '#shared/queue/subjects.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { type RunningGateway, startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

const image = Buffer.from('the bytes of an image')
const url = 'https://example.com/'
const postgres = await startPostgres(t)

type Served = Pick<RunningGateway, 'baseUrl'>

const newCaller = async (gateway: RunningGateway) => {
  const { database, baseUrl } = gateway
  await replacePlans(database, defaultPlans)
  const { id } = await createAccount(database, { name: 'Test', email: 't@example.com', plan: 'unlimited' })
  const { key } = await createKey(database, { accountId: id, name: 'key', domains: [], pepper: testPepper })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    create: (body: object = { url }) =>
      fetch(`${baseUrl}/v1/screenshots`, { method: 'POST', headers, body: JSON.stringify(body) }),
    capture: (by: Served = gateway, more: Record<string, string> = {}) =>
      fetch(`${by.baseUrl}/v1/screenshots/capture`, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ url }),
      }),
    status: (screenshot: string, by: Served = gateway) =>
      fetch(`${by.baseUrl}/v1/screenshots/${screenshot}`, { headers }),
  }
}

const storedAway = (id: string): CaptureEnd => ({
  status: 'completed',
  objectKey: `captures/2026-01-01T00/${id}/${'0'.repeat(32)}`,
  fileSize: image.length,
  sha256: '0'.repeat(64),
  mimeType: 'image/png',
  width: 1280,
  height: 800,
  processingTimeMs: 1,
  timings: { total: 1 },
})

const outbox = async ({ database }: RunningGateway) => (await database.query('select 1 from outbox')).length

t.test('gateway faults: does not start with another pepper than that of the key hashes in its database', async (t) => {
  const { database } = await startGateway(t, {}, postgres)
  const other = { DATABASE_URL: database.url, KEY_PEPPER: 'that of another installation' }
  await t.rejects(startGateway(t, other, postgres), /gateway\/main\.[jt]s ended with 78$/)
})

t.test('gateway faults: a capture whose end event is lost is found by polling', async (t) => {
  const gateway = await startGateway(t, {}, postgres)
  const { capture } = await newCaller(gateway)
  await using _fleet = startStandInFleet(gateway, () => ({ image }), { silent: true })
  const answer = await capture()
  t.same([answer.status, Buffer.from(await answer.arrayBuffer())], [200, image])
})

t.test('gateway faults: 200 concurrent captures are published once each, and leave no outbox row', async (t) => {
  const gateway = await startGateway(t, { WINDOW_CAPTURES: '1000' }, postgres)
  const { create } = await newCaller(gateway)
  await using fleet = startStandInFleet(gateway, () => ({ image }))
  const answers = await Promise.all(Array.from({ length: 200 }, () => create()))
  t.ok(answers.every(({ status }) => status === 202))
  await eventually(() => fleet.received.length >= 200)
  await eventually(async () => (await outbox(gateway)) === 0)
  t.equal(new Set(fleet.received.map(({ id }) => id)).size, 200)
  t.equal(fleet.received.length, 200)
})

t.test('gateway faults: captures over the window wait in the outbox, and the relay is notified', async (t) => {
  const gateway = await startGateway(t, { WINDOW_CAPTURES: '2' }, postgres)
  const { create } = await newCaller(gateway)
  let relayWakeups = 0
  let poolWakeups = 0
  using _relayWoken = gateway.queue.subscribe(relayWakeupSubject, () => (relayWakeups += 1))
  using _poolWoken = gateway.queue.subscribe(poolWakeupSubject('standard'), () => (poolWakeups += 1))
  for (let count = 0; count < 5; count += 1) t.equal((await create()).status, 202)
  await eventually(() => relayWakeups === 3 && poolWakeups > 0)
  await eventually(async () => (await outbox(gateway)) === 3)
})

t.test('gateway faults: without NATS captures wait in the outbox; the gateway reconnects by itself', async (t) => {
  const gateway = await startGateway(t, {}, postgres)
  const { create } = await newCaller(gateway)
  await using fleet = startStandInFleet(gateway, () => ({ image }))
  process.kill(gateway.nats.pid, 'SIGSTOP')
  const answer = await create()
  t.equal(answer.status, 202)
  t.equal(await outbox(gateway), 1)
  await gateway.nats.restart()
  await eventually(async () => {
    const { id } = ((await (await create()).json()) as { data: { id: string } }).data
    await eventually(() => fleet.received.some((capture) => capture.id === id), { withinMs: 2000 })
    return true
  })
})

t.test('gateway faults: a stopping gateway responds to waiting clients with 202, and exits', async (t) => {
  const gateway = await startGateway(t, { GATEWAY_DRAIN_MS: '200' }, postgres)
  const { capture, create } = await newCaller(gateway)
  await using fleet = startStandInFleet(gateway, () => 'nothing')
  const waiting = capture()
  await eventually(() => fleet.received.length === 1)
  gateway.stop()
  const answer = await waiting
  t.equal(answer.status, 202)
  const body = (await answer.json()) as Record<string, unknown>
  t.match(body, { status: 'pending', url, id: fleet.received[0]?.id })
  t.equal(answer.headers.get('location'), `${gateway.baseUrl}/v1/screenshots/${String(body['id'])}`)
  t.equal(await gateway.ended, 0)
  await t.rejects(create(), 'the port is closed')
})

t.test(
  'gateway faults: a stopping gateway serves until those who route to it know, and ends connections',
  async (t) => {
    const gateway = await startGateway(t, { GATEWAY_SHUTDOWN_DELAY_MS: '2000' }, postgres)
    const { status } = await newCaller(gateway)
    const ask = async () => (await status('0'.repeat(26))).headers.get('connection')
    t.equal(await ask(), 'keep-alive')
    gateway.stop()
    await eventually(async () => (await ask()) === 'close')
    t.equal(await ask(), 'close', 'a new connection is served')
    t.equal(await gateway.ended, 0)
  },
)

// Contract: A synchronous capture that waits
t.test('gateway faults: a capture outlives its client, is charged once, and is replayed under its key', async (t) => {
  const gateway = await startGateway(t, { GATEWAY_DRAIN_MS: '200', PUBLIC_URL: 'https://shots.example' }, postgres)
  const replica = await gateway.startReplica()
  const { capture, status } = await newCaller(gateway)
  const { promise, resolve } = Promise.withResolvers<void>()
  await using fleet = startStandInFleet(gateway, () => ({ image, before: () => promise }))
  const waiting = capture(gateway, { 'idempotency-key': 'once' })
  await eventually(() => fleet.received.length === 1)
  gateway.stop()
  const left = await waiting
  const { created_at: createdAt, ...body } = (await left.json()) as Record<string, unknown>
  const id = fleet.received[0]?.id ?? ''
  t.same([left.status, body], [202, { id, status: 'pending', url }])
  t.match(createdAt, /^\d{4}-.*Z$/)
  t.equal(left.headers.get('location'), `https://shots.example/v1/screenshots/${id}`)
  t.match(Object.fromEntries(left.headers), { 'retry-after': /^[1-9]\d*$/, 'x-screenshot-id': id })
  const again = capture(replica, { 'idempotency-key': 'once' })
  resolve()
  const answer = await again
  t.same([answer.status, Buffer.from(await answer.arrayBuffer())], [200, image])
  t.match(Object.fromEntries(answer.headers), { 'idempotent-replayed': 'true', 'x-screenshot-id': id })
  t.match(await (await status(id, replica)).json(), { data: { id, status: 'completed' } })
  t.equal(fleet.received.length, 1)
  t.same(await gateway.database.query('select charge from capture'), [{ charge: 'settled' }])
  t.same(await gateway.database.query('select reserved::int, settled::int from usage'), [{ reserved: 0, settled: 1 }])
})

t.test('gateway faults: a stopping gateway lets a running capture end', async (t) => {
  const gateway = await startGateway(t, {}, postgres)
  const { capture, create } = await newCaller(gateway)
  const { promise, resolve } = Promise.withResolvers<void>()
  await using fleet = startStandInFleet(gateway, () => ({ image, before: () => promise }))
  const waiting = capture()
  await eventually(() => fleet.received.length === 1)
  gateway.stop()
  await eventually(async () => (await fetch(`${gateway.probeUrl}/readyz`)).status === 503)
  const isClosed = () =>
    create().then(
      () => false,
      () => true,
    )
  await eventually(isClosed, { what: 'the port is closed' })
  resolve()
  const answer = await waiting
  t.same([answer.status, Buffer.from(await answer.arrayBuffer())], [200, image])
  t.equal(await gateway.ended, 0)
})

// Contract: Overload
t.test('gateway faults: without the object store an image is a 503, and its record is still served', async (t) => {
  const storage = { STORAGE_DRIVER: 's3', S3_URL: 'http://KEY:SECRET@127.0.0.1:1/images' }
  const gateway = await startGateway(t, storage, postgres)
  const { create, status } = await newCaller(gateway)
  const { id } = ((await (await create()).json()) as { data: { id: string } }).data
  await changeCaptures(gateway.database, [id], () => ({
    change: { attempts: 1, unendedStarts: 0, begins: true, end: storedAway(id) },
  }))
  const download = await status(`${id}/image`)
  t.match([download.status, await download.json()], [503, { error: { code: 'SERVICE_UNAVAILABLE', retry_after: 5 } }])
  t.equal(download.headers.get('retry-after'), '5')
  t.match([(await status(id)).status, (await create()).status], [200, 202])
})

// Contract: Overload
t.test(
  'gateway faults: requests that a frozen PostgreSQL left unanswered are neither stored nor charged after it resumes',
  async (t) => {
    const gateway = await startGateway(t, {}, postgres)
    const { create, status } = await newCaller(gateway)
    const ten = () => Promise.all(Array.from({ length: 10 }, () => create()))
    t.ok((await ten()).every((answer) => answer.status === 202))
    const stored = () =>
      gateway.database
        .query(`select (select count(*) from capture) as captures, (select sum(reserved) from usage) as charged,
      (select sum(pending) from account_meter) as pending`)
    const before = await stored()
    t.match(before, [{ captures: '10', charged: '10', pending: '10' }])
    const sessions = `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    const abandoned = (await gateway.database.query<{ pid: number }>(sessions)).map(({ pid }) => pid)
    t.ok(abandoned.length > 0, 'the gateway has connections, so that its statements reach the server')

    const server = processTree(gateway.postgres.pid).map(({ pid }) => pid)
    for (const pid of server) process.kill(pid, 'SIGSTOP')
    const answers = await ten().finally(() => {
      for (const pid of server) process.kill(pid, 'SIGCONT')
    })
    const ids = []
    for (const answer of answers) {
      const { error } = (await answer.json()) as { error: { code: string; screenshot_id: string } }
      t.match([answer.status, error.code], [503, 'SERVICE_UNAVAILABLE'])
      ids.push(error.screenshot_id)
    }
    await eventually(async () => {
      const left = await gateway.database.query<{ pid: number }>(sessions)
      return left.every(({ pid }) => !abandoned.includes(pid))
    })
    t.same(await stored(), before)
    for (const id of ids) t.equal((await status(id)).status, 404)
    t.equal((await create()).status, 202, 'new captures are accepted')
  },
)

// Contract: Overload
t.test('gateway faults: without PostgreSQL every operation is a 503 with Retry-After', async (t) => {
  const gateway = await startGateway(t, {}, postgres)
  const { capture, create, status } = await newCaller(gateway)
  t.equal((await create()).status, 202)
  await gateway.postgres.stop()
  for (const answer of await Promise.all([capture(), create(), create({}), status('x')])) {
    t.equal(answer.status, 503)
    t.equal(answer.headers.get('retry-after'), '5')
    t.match(await answer.json(), { error: { code: 'SERVICE_UNAVAILABLE', status: 503, retry_after: 5 } })
  }
  const ready = () => fetch(`${gateway.probeUrl}/readyz`)
  await eventually(async () => (await ready()).status === 503)
  t.match(await (await ready()).json(), { detail: { postgresql: /^refuses writes: / } })
  t.equal(
    (await fetch(`${gateway.baseUrl}/readyz`)).status,
    200,
    'load balancers keep it: its replicas have the same store',
  )
})
