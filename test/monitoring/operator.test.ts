import t from 'tap'
import { readDashboards, testQueries } from '#test/helpers/dashboard-queries.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'
import { startPrometheus } from '#test/helpers/prometheus.ts'

t.test('operator: every panel of the controller on Kubernetes has data', async (t) => {
  const { operator, applyPool, settles, queue } = await startOperatorCluster(t)
  await using prometheus = await startPrometheus([new URL(operator.probeUrl).host])
  await applyPool('web', { pool: 'standard' })
  await settles('web', 1)
  await queue.send(2)
  await queue.allEnded()
  await testQueries(t, prometheus, readDashboards({ isKubernetes: true }))
})
