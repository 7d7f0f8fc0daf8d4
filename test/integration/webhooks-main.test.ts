import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Announcement } from '#shared/process/run-main.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { startEgressProcess } from '#test/helpers/egress-process.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { testRecordKey } from '#test/helpers/record-seal.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'
import { captureFor, newTenant, openingKeyText } from '#test/helpers/webhook-sender.ts'
import { nodeEnv } from '#test/helpers/node-env.ts'
import { testProgramPath } from '#test/helpers/test-program-path.ts'

const main = testProgramPath('webhooks/main')

type WithTeardown = { teardown: (clean: () => void) => void }

const startProcess = (t: WithTeardown, settings: Readonly<Record<string, string>>) => {
  const child = fork(main, {
    execArgv: [],
    env: {
      ...nodeEnv,
      ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [`SHUTTERFLEET_${name}`, value])),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  t.teardown(() => void child.kill('SIGKILL'))
  const printed = Promise.all([text(child.stdout!), text(child.stderr!)])
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const announced = once(child, 'message').then(([message]) => message as Announcement)
  return { child, printed, ended, announced }
}

const egressToken = 'token-of-the-sender'

t.test('webhooks main: the delivery of a killed sender is delivered by another one with the same bytes', async (t) => {
  await using certificate = await makeCertificate(['localhost'])
  const first = Promise.withResolvers<'hang'>()
  await using receiver = await startReceiver(certificate, (_, nth) => (nth === 1 ? first.promise : 200))
  using egress = startEgressProcess({
    SHUTTERFLEET_ALLOW_TARGETS: `localhost:${receiver.port}`,
    SHUTTERFLEET_EGRESS_TOKENS: egressToken,
  })
  const postgres = await startPostgres(t)
  const database = await postgres.createDatabase()
  const { egress: egressUrl = '' } = await egress.announced
  const settings = {
    DATABASE_URL: database.url,
    PUBLIC_URL: 'https://shots.example',
    WEBHOOK_EGRESS: new URL(egressUrl).host,
    EGRESS_TOKEN: egressToken,
    RECORD_KEYS: testRecordKey,
    WEBHOOK_OPENING_KEYS: openingKeyText,
    S3_URL: 'http://KEY:SECRET@127.0.0.1:1/images',
    EXTRA_CA: certificate.certPath,
  }
  const one = startProcess(t, settings)
  await one.announced
  const tenant = await newTenant(database)
  await captureFor(database, tenant, `https://localhost:${receiver.port}/hook`)
  await eventually(() => receiver.received.length === 1, { what: 'the first sender has sent' })
  one.child.kill('SIGKILL')
  await one.ended

  const other = startProcess(t, settings)
  const { probeUrl = '' } = await other.announced
  await eventually(async () => (await fetch(`${probeUrl}/readyz`)).status === 200)
  const isDelivered = async () =>
    (await database.query(`select from webhook_delivery where state = 'delivered'`)).length === 1
  await eventually(isDelivered, { withinMs: 30_000 })
  t.equal(receiver.received.length, 2)
  t.equal(receiver.received[1]?.body, receiver.received[0]?.body)
  t.match(await (await fetch(`${probeUrl}/metrics`)).text(), /shutterfleet_webhook_attempts_total\{outcome="delivered"/)

  other.child.kill('SIGTERM')
  t.equal(await other.ended, 0)
  const [out, err] = await other.printed
  t.equal(out, '')
  t.notMatch(err, /"level":"error"/)
})

t.test('webhooks main: fails to start with invalid settings and names each of them', async (t) => {
  const { ended, printed } = startProcess(t, {
    DATABASE_URL: 'postgres://u@localhost/db',
    WEBHOOK_EGRESS: 'nowhere',
    RECORD_KEYS: testRecordKey,
    WEBHOOK_OPENING_KEYS: 'x',
    WEBHOOK_RETRIES: 'soon',
  })
  t.equal(await ended, 78)
  const [, err] = await printed
  for (const name of ['WEBHOOK_EGRESS = nowhere', 'WEBHOOK_RETRIES = soon', 'PUBLIC_URL is not set']) t.match(err, name)
})

t.test('webhooks main: fails to start if egress is unreachable, is another proxy or rejects the token', async (t) => {
  using filter = startEgressProcess({ SHUTTERFLEET_EGRESS_TOKENS: egressToken })
  const { egress: filterUrl = '' } = await filter.announced
  const proxy = createServer().on('connect', (_request, socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  await using open = await listening(proxy)
  for (const [egress, reason] of [
    [`127.0.0.1:${open.port}`, 'it is not our filter'],
    ['127.0.0.1:1', 'egress is unreachable'],
    [new URL(filterUrl).host, 'egress does not take the token: SHUTTERFLEET_EGRESS_TOKEN'],
  ] as const) {
    const { ended, printed } = startProcess(t, {
      DATABASE_URL: 'postgres://u@localhost:1/db',
      PUBLIC_URL: 'https://shots.example',
      WEBHOOK_EGRESS: egress,
      RECORD_KEYS: testRecordKey,
      WEBHOOK_OPENING_KEYS: openingKeyText,
      S3_URL: 'http://KEY:SECRET@127.0.0.1:1/images',
    })
    t.equal(await ended, 75)
    t.match((await printed)[1], reason)
  }
})

t.test('webhooks main: fails to start with a certificate file without certificates', async (t) => {
  const { ended, printed } = startProcess(t, {
    DATABASE_URL: 'postgres://u@localhost/db',
    PUBLIC_URL: 'https://shots.example',
    WEBHOOK_EGRESS: '127.0.0.1:1',
    RECORD_KEYS: testRecordKey,
    WEBHOOK_OPENING_KEYS: openingKeyText,
    S3_URL: 'http://KEY:SECRET@127.0.0.1:1/images',
    EXTRA_CA: import.meta.filename,
  })
  t.equal(await ended, 78)
  t.match((await printed)[1], /SHUTTERFLEET_EXTRA_CA = .*holds no certificates/)
})
