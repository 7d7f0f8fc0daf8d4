import t from 'tap'
import { poolPolicy } from '#cli/simulation/forecast.ts'
import { workersMax } from '#shared/kube/browser-pool.ts'
import { policyOf } from '#controller/operator/scale/pool-policy.ts'
import { laneObjectivesMs } from '#shared/policy/lane-objectives.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

t.test('forecast: the policy has the defaults of a BrowserPool', async (t) => {
  const spec = poolObject('web', { autoscaling: { minReplicas: 1, maxReplicas: workersMax, slots: 1 } }).spec
  const objectivesMs = laneObjectivesMs({ queueWaitMs: 2000 })
  t.strictSame(poolPolicy({ least: 1, slots: 1, objectivesMs }), policyOf(spec))
})
