import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { processTree, signalAll } from '#test/helpers/process-tree.ts'
import { startSystem } from '#test/helpers/system.ts'
import { keepSending, watchAlerts } from '#test/helpers/watched-alerts.ts'

const oneWorker = ['--workers-max', '1']
const page = { html: '<h1>Nobody will see this</h1>' }

/** How long PostgreSQL is stopped and runs, in turns. */
const [stoppedMs, runningMs] = [2000, 100]
/** Pause of a client between requests: longer than PostgreSQL runs, so that its next request waits more than a second. */
const pauseMs = 300

/** Sends a signal to a process and all its descendants. */
const signalTree = (root: number, signal: 'SIGSTOP' | 'SIGCONT') => {
  signalAll(
    processTree(root).map(({ pid }) => pid),
    signal,
  )
}

t.test(
  'alerts: of a frozen PostgreSQL, for which every request ends with 503, the store and the failing requests are sent',
  async (t) => {
    await using postgres = await startPostgres()
    const { url } = await postgres.createDatabase()
    await using system = await startSystem([...oneWorker, '--postgres', url])
    await using alerts = await watchAlerts(system)
    signalTree(postgres.pid, 'SIGSTOP')
    try {
      await using _load = keepSending(4, () => system.post('/v1/screenshots', page))
      await alerts.expectCritical(t, ['ShutterfleetStoreDown', 'ShutterfleetRequestsFailing'])
    } finally {
      signalTree(postgres.pid, 'SIGCONT')
    }
  },
)

t.test('alerts: a PostgreSQL that is slow, as on a slow disk, is the one critical alert', async (t) => {
  await using postgres = await startPostgres()
  const { url } = await postgres.createDatabase()
  await using system = await startSystem([...oneWorker, '--postgres', url])
  await using alerts = await watchAlerts(system)
  const stop = new AbortController()
  const slow = (async () => {
    while (!stop.signal.aborted) {
      signalTree(postgres.pid, 'SIGSTOP')
      await delay(stoppedMs)
      signalTree(postgres.pid, 'SIGCONT')
      await delay(runningMs)
    }
  })()
  try {
    await using _load = keepSending(4, async () => {
      await delay(pauseMs)
      return system.request('/v1/account/usage')
    })
    await alerts.expectCritical(t, ['ShutterfleetRequestsLateFast'])
  } finally {
    stop.abort()
    await slow
  }
})

t.test('alerts: a NATS server that is away is the one critical alert, while captures wait in the outbox', async (t) => {
  await using nats = await startNats()
  await using system = await startSystem([...oneWorker, '--nats', nats.url])
  await using alerts = await watchAlerts(system)
  await nats.stop()
  // The seconds until a probe fails are not divided like the `for` of rules.
  await alerts.reaches('ALERTS{alertname="ShutterfleetStoreDown",alertstate="firing"}', 0)
  await system.create(page)
  await alerts.expectCritical(t, ['ShutterfleetStoreDown'])
})
