import t from 'tap'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { startSystem } from '#test/helpers/system.ts'
import { keepSending, watchAlerts } from '#test/helpers/watched-alerts.ts'

const oneWorker = ['--workers-max', '1']
const page = { html: '<h1>Nobody will see this</h1>' }

/** Sends a signal to a process and all its descendants. */
const signalTree = (pid: number, signal: 'SIGSTOP' | 'SIGCONT') => {
  for (const { pid: each } of processTree(pid)) process.kill(each, signal)
}

t.test('alerts: a frozen PostgreSQL, for which every request ends with 503, is the one critical alert', async (t) => {
  await using postgres = await startPostgres()
  const { url } = await postgres.createDatabase()
  await using system = await startSystem([...oneWorker, '--postgres', url])
  await using alerts = await watchAlerts(system)
  signalTree(postgres.pid, 'SIGSTOP')
  try {
    await using _load = keepSending(4, () => system.post('/v1/screenshots', page))
    await alerts.expectCritical(t, ['ShutterfleetStoreDown'])
  } finally {
    signalTree(postgres.pid, 'SIGCONT')
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
