import { createServer } from 'node:http'
import t from 'tap'
import { readDashboards, testQueries } from '#test/helpers/dashboard-queries.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'
import { startPrometheus } from '#test/helpers/prometheus.ts'
import { watchAlertsOf } from '#test/helpers/watched-alerts.ts'

/** Metrics of the services that the cluster does not run. */
const otherMetrics = ['gateway', 'ledger', 'egress', 'webhooks', 'webhook-egress']
  .map((component) => `shutterfleet_event_loop_utilization_ratio{component="${component}"} 0\n`)
  .join('')

t.test('operator: every panel of the controller on Kubernetes has data', async (t) => {
  const { operator, applyPool, settles, queue } = await startOperatorCluster(t)
  await using prometheus = await startPrometheus([new URL(operator.probeUrl).host])
  await applyPool('web', { pool: 'standard' })
  await settles('web', 1)
  await queue.send(2)
  await queue.allEnded()
  await testQueries(t, prometheus, readDashboards({ isKubernetes: true }))
})

t.test('alerts: a Kubernetes API that does not respond is the one critical alert', async (t) => {
  const { cluster, operator, applyPool, settles } = await startOperatorCluster(t)
  const serve = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(otherMetrics),
  )
  await using rest = await listening(serve)
  await applyPool('web', { pool: 'standard' })
  await settles('web', 1)
  await using alerts = await watchAlertsOf([new URL(operator.probeUrl).host, `127.0.0.1:${rest.port}`])
  cluster.freeze('kube-apiserver')
  try {
    await alerts.expectCritical(t, ['ShutterfleetNoLeader'])
  } finally {
    cluster.thaw('kube-apiserver')
  }
})
