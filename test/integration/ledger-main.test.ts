import { fork } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { deleteCapture } from '#gateway/db/captures.ts'
import { type QueuePasswords, accountsText } from '#local/nats-config.ts'
import type { Announcement } from '#shared/process/run-main.ts'
import { queueUsers } from '#shared/queue/permissions.ts'
import { captureFilter } from '#shared/queue/subjects.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { openQueue } from '#test/helpers/ledger.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { createTenant } from '#test/helpers/tenant.ts'
import { nodeEnv } from '#test/helpers/node-env.ts'
import { testProgramPath } from '#test/helpers/test-program-path.ts'

const main = testProgramPath('ledger/main')
const passwords = Object.fromEntries(queueUsers.map(({ name }) => [name, 'secret'])) as QueuePasswords

t.test('ledger main: with its own permissions it creates streams, relays, purges, and exits on SIGTERM', async (t) => {
  const [postgres, nats] = await Promise.all([startPostgres(t), startNats(t, { config: accountsText(passwords) })])
  const database = await postgres.createDatabase()
  const ledgerUrl = nats.url.replace('//', '//ledger:secret@')
  const child = fork(main, {
    execArgv: [],
    env: {
      ...nodeEnv,
      SHUTTERFLEET_DATABASE_URL: database.url,
      SHUTTERFLEET_NATS_URL: ledgerUrl,
      SHUTTERFLEET_STORAGE_DRIVER: 'files',
      SHUTTERFLEET_STORAGE_FOLDER: t.testdir({}),
      SHUTTERFLEET_STORAGE_FILES_URL: 'http://127.0.0.1:1',
      SHUTTERFLEET_STORAGE_SIGNING_KEY: Buffer.alloc(32).toString('base64'),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const printed = Promise.all([text(child.stdout!), text(child.stderr!)])
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const announced = once(child, 'message').then(([message]) => message as Announcement)
  const addresses = await Promise.race([announced, ended])
  if (typeof addresses !== 'object' || addresses === null) throw new Error((await printed).join(''))

  await eventually(async () => (await fetch(`${addresses['probeUrl']}/readyz`)).status === 200)
  const queue = await openQueue(t, ledgerUrl)
  const tenant = await createTenant(database)
  const capture = tenant.capture()
  await acceptCapture(database, capture, { windowSize: 16 })
  await eventually(async () => (await poolDepth(queue, 'standard')).waiting === 1, {
    what: `${captureFilter()} holds it`,
  })
  const metrics = await (await fetch(`${addresses['probeUrl']}/metrics`)).text()
  t.match(metrics, /shutterfleet_relay_captures_total\{result="stored",component="ledger"\} 1/)

  await deleteCapture(database, { id: capture.id, accountId: tenant.accountId })
  await eventually(async () => (await poolDepth(queue, 'standard')).waiting === 0, {
    what: 'a deleted one is purged',
  })

  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const [out, err] = await printed
  t.equal(out, '')
  t.notMatch(err, /"level":"error"|Permissions Violation/)
})
