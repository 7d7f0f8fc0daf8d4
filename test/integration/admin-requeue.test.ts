import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import t from 'tap'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import { createAccount, setDisabled, setPlan } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { setMaintenance } from '#shared/db/maintenance.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { readDocument } from '#test/helpers/documented-json.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { testRecords } from '#test/helpers/record-seal.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'
import { endCaptures } from '#test/helpers/webhook-sender.ts'

const token = 'a-token-of-the-administration'
const gateway = await startGateway(t, { ADMIN_TOKEN: token, ADMIN_PORT: '0' })
const { database, baseUrl, adminUrl } = gateway
await replacePlans(database, [
  ...defaultPlans,
  { ...defaultPlans[0]!, slug: 'narrow', screenshots_per_month: 3, rate_limit_per_minute: 1, max_pending: 2 },
])

type Fields = Record<string, unknown>
type Row = Fields & { id: string; url: string | null; options: Fields }
type Answer = { status: number; body: { data: Fields; error: { code: string; details: Fields } } }

const send = async (url: string, bearer: string, body: unknown): Promise<Answer> => {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

const newAccount = async (plan = 'unlimited') => {
  const { id } = await createAccount(database, { name: 'A', email: 'a@example.com', plan })
  const { key } = await createKey(database, { accountId: id, name: '', domains: ['only.example'], pepper: testPepper })
  // The key is bound to a domain; the operator's requests carry no origin.
  const create = async (body: Fields) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      origin: 'https://only.example',
    }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = (await (await fetch(`${baseUrl}/v1/screenshots`, init)).json()) as Answer['body']
    return String(answer.data['id'])
  }
  const failed = async (body: Fields, code: CaptureErrorCode = 'JOB_FAILED') => {
    const captureId = await create(body)
    await endCaptures(database, [captureId], 'failed', code)
    return captureId
  }
  const requeue = (body: Fields = {}) => send(`${adminUrl}/admin/v1/accounts/${id}/queue/requeue`, token, body)
  const captures = async () => {
    const statement = 'select * from capture where account_id = $1 order by created_at'
    const rows = await database.query<Row>(statement, [id])
    return rows.map((row) => testRecords.open(row))
  }
  const reserved = async () => {
    const [row] = await database.query<{ reserved: number }>(
      'select reserved::integer from usage where account_id = $1',
      [id],
    )
    return row?.reserved ?? 0
  }
  return { id, create, failed, requeue, captures, reserved }
}

const url = 'https://example.com/'

// Contract: Queue by account
t.test(
  'admin requeue: a capture that failed through a service fault is resubmitted once, with the same options',
  async (t) => {
    const account = await newAccount()
    const image = Buffer.from('an image')
    const parameters = {
      url: `${url}?q=1`,
      width: 800,
      format: 'webp',
      quality: 70,
      delay: 1,
      timeout: 20,
      full_page: true,
    }
    const webhook = 'https://hooks.example/in?token=whole'
    let isBroken = true
    await using fleet = startStandInFleet(gateway, () => (isBroken ? { fails: 'RENDER_ERROR' } : { image }))
    const first = await account.create({ ...parameters, webhook_url: webhook })
    const isEnded = async (place: number, status: string) => (await account.captures())[place]?.['status'] === status
    await eventually(() => isEnded(0, 'failed'))
    isBroken = false
    const requeued = { requeued: 1, left_out: {} }
    t.match(await account.requeue(), { status: 200, body: { data: requeued } })
    await eventually(() => isEnded(1, 'completed'))
    const [before, after] = await account.captures()
    t.match(
      before,
      { id: first, status: 'failed', error_code: 'RENDER_ERROR', charge: 'released' },
      'the failed capture is unchanged',
    )
    t.match(after, { charge: 'settled', lane: 'bulk', url: parameters.url })
    t.equal(testRecords.openUrl(String(after?.['webhook_url'])), webhook)
    t.strictSame({ ...after?.options, height: 800 }, before?.options)
    const [old, again] = fleet.received
    t.strictSame(again?.part.options, old?.part.options, 'the worker receives the same options')
    t.not(again?.part.token, old?.part.token)
    t.match(await account.requeue(), { status: 200, body: { data: { requeued: 0, left_out: {} } } }, 'and not twice')
    t.equal((await account.captures()).length, 2)
    const log = await database.query(
      'select actor, action, detail from audit_entry where target = $1 order by at desc',
      [account.id],
    )
    t.match(log[1], {
      actor: 'admin',
      action: 'queue.requeue',
      detail: { ...requeued, codes: ['JOB_FAILED', 'RENDER_ERROR'] },
    })
  },
)

// Contract: Queue by account
t.test('admin requeue: concurrent calls resubmit each capture once', async (t) => {
  const account = await newAccount()
  for (let created = 0; created < 5; created += 1) await account.failed({ url })
  const answers = await Promise.all(Array.from({ length: 4 }, () => account.requeue()))
  const sum = answers.reduce((all, { body }) => all + Number(body.data['requeued']), 0)
  t.equal(sum, 5)
  const reasons = answers.flatMap(({ body }) => Object.keys(body.data['left_out'] as Fields))
  t.strictSame(
    reasons.filter((reason) => reason !== 'requeued_before'),
    [],
  )
  t.equal((await account.captures()).length, 10)
  t.equal(await account.reserved(), 5)
})

// Contract: Queue by account
t.test(
  'admin requeue: captures whose source or secrets are not stored, or are no longer valid, are left out with a reason',
  async (t) => {
    const account = await newAccount()
    await account.failed({ html: '<p>gone</p>' })
    await account.failed({ url: 'https://user:password@example.com/' })
    await account.failed({ url, proxy: 'http://user:password@proxy.example:8080' })
    await account.failed({ url, proxy: 'http://proxy.example:8080' })
    await account.failed({ url: 'https://user@example.com/' })
    const changed = await account.failed({ url })
    await database.query(`update capture set options = '{"headers":{"x-key":"***"}}' where id = $1`, [changed])
    await account.failed({ url, local_storage: { token: 'secret' } })
    await account.failed({ url, session_storage: { token: 'secret' } })
    await account.failed({ url, actions: [{ type: 'type', selector: 'input', text: 'secret' }] })
    const old = await account.failed({ url })
    await database.query(`update capture set options = '{"no_longer":true}' where id = $1`, [old])
    t.match((await account.requeue()).body.data, {
      requeued: 2,
      left_out: { source_not_kept: 1, secret_not_kept: 6, not_valid: 1 },
    })
    const again = (await account.captures()).slice(10)
    t.match(again, [
      { status: 'pending', pool: 'proxied', options: { proxy: 'http://proxy.example:8080' } },
      { status: 'pending', url: 'https://user@example.com/' },
    ])
  },
)

// Contract: Queue by account
t.test(
  'admin requeue: resubmits only failures of the given codes since the given time, oldest first, up to the limit',
  async (t) => {
    const account = await newAccount()
    for (const code of ['TIMEOUT', 'BLOCKED', 'DNS_FAILED', 'CONNECTION_FAILED', 'INVALID_URL'] as const)
      await account.failed({ url }, code)
    t.strictSame(
      (await account.requeue()).body.data,
      { requeued: 0, left_out: {} },
      'faults of the target are not requeued',
    )
    const aged = await account.failed({ url: `${url}aged` })
    await database.query(`update capture set completed_at = now() - interval '2 hours' where id = $1`, [aged])
    await account.failed({ url: `${url}job` })
    await account.failed({ url: `${url}render` }, 'RENDER_ERROR')
    const isoBefore = (ms: number) => new Date(Date.now() - ms).toISOString()
    const urls = async () => (await account.captures()).slice(8).map((each) => each['url'])
    t.match((await account.requeue({ codes: ['RENDER_ERROR'] })).body.data, { requeued: 1 })
    t.strictSame(await urls(), [`${url}render`])
    t.match((await account.requeue()).body.data, { requeued: 1 })
    t.strictSame(await urls(), [`${url}render`, `${url}job`], 'of the last hour')
    await account.failed({ url: `${url}latest` })
    t.match((await account.requeue({ since: isoBefore(3 * 3_600_000), limit: 1 })).body.data, { requeued: 1 })
    t.strictSame((await urls()).slice(3), [`${url}aged`], 'the oldest first')
    for (const [name, wrong] of [
      ['codes', ['TIMEOUT']],
      ['codes', []],
      ['since', 'yesterday'],
      ['since', '2026-02-31T99:00:00Z'],
      ['since', isoBefore(25 * 3_600_000)],
      ['limit', 0],
      ['limit', 1001],
      ['status', 'failed'],
    ] as const) {
      const { status, body } = await account.requeue({ [name]: wrong })
      t.strictSame([status, Object.keys(body.error.details)], [422, [name]], `${name} ${String(wrong)}`)
    }
    const missing = `${adminUrl}/admin/v1/accounts/${randomUUID()}/queue/requeue`
    t.match(await send(missing, token, {}), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  },
)

// Contract: Queue by account
t.test(
  'admin requeue: a requeued capture is subject to plan, queue bound and quota, not to the minute limit',
  async (t) => {
    const account = await newAccount()
    for (let created = 0; created < 4; created += 1) await account.failed({ url })
    await account.failed({ url, webhook_url: 'https://hooks.example/' })
    await setPlan(database, account.id, 'narrow')
    t.strictSame((await account.requeue()).body.data, {
      requeued: 2,
      left_out: { queue_full: 2, feature_not_available: 1 },
    })
    const [, , , , , first, second] = await account.captures()
    await endCaptures(database, [first!.id, second!.id])
    t.strictSame((await account.requeue()).body.data, {
      requeued: 1,
      left_out: { usage_limit_exceeded: 1, feature_not_available: 1 },
    })
    await setPlan(database, account.id, 'free')
    await setDisabled(database, account.id, true)
    t.strictSame((await account.requeue()).body.data, { requeued: 0, left_out: { account_disabled: 2 } })
  },
)

const runRequeue = (at: string, ...args: readonly string[]) => {
  const env = {
    PATH: process.env['PATH'],
    SHUTTERFLEET_BASE_URL: at,
    SHUTTERFLEET_DATABASE_URL: database.url,
    SHUTTERFLEET_KEY_PEPPER: testPepper,
  }
  return promisify(execFile)(commandLine, ['queue', 'requeue', ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, errors: stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout,
      errors: stderr,
    }),
  )
}

t.test('admin requeue: the command line requeues as an operator, whose session ends with the command', async (t) => {
  const account = await newAccount()
  await account.failed({ url })
  await account.failed({ url: `${url}2`, headers: { 'x-a': 'b' } })
  const { out, errors } = await runRequeue(baseUrl, account.id, '--since', '24h', '--json')
  t.strictSame(
    { result: await readDocument<object>(['queue', 'requeue'], out), errors },
    { result: { requeued: 1, left_out: { secret_not_kept: 1 } }, errors: '' },
  )
  t.match((await runRequeue(baseUrl, account.id)).out, /^0 failed .* again\n1 are not: secret_not_kept\n$/)
  t.match(await runRequeue(baseUrl, randomUUID()), { code: 1, errors: /NOT_FOUND: there is no account/i })
  t.match(await runRequeue(baseUrl, account.id, '--since', '25h'), {
    code: 2,
    errors: /--since 25h: must be at most 24h/,
  })
  t.match(await runRequeue(baseUrl, account.id, '--code', 'TIMEOUT'), {
    code: 2,
    errors: /--code TIMEOUT: must be one of/,
  })
  t.strictSame(await database.query('select id from console_session'), [])
  const closed = await gateway.startReplica(0, { CONSOLE_OPERATORS: 'false', ADMIN_TOKEN: '' })
  t.match(await runRequeue(closed.baseUrl, account.id), { code: 1, errors: /CONSOLE_OPERATORS.*admin API/ })
})

// Contract: Maintenance mode
t.test('admin requeue: under maintenance nothing is requeued', async (t) => {
  const account = await newAccount()
  await account.failed({ url })
  await setMaintenance(database, true, 'admin')
  await eventually(async () => (await account.requeue({ limit: 1, codes: ['RENDER_ERROR'] })).status === 503)
  t.match((await account.requeue()).body.error, { code: 'SERVICE_UNAVAILABLE', retry_after: 60 })
  await setMaintenance(database, false, 'admin')
  await eventually(async () => (await account.requeue()).status === 200)
  t.equal((await account.captures()).length, 2)
})
