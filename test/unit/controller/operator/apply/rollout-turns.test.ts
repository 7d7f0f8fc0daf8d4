import t from 'tap'
import { createRolloutTurns } from '#controller/operator/apply/rollout-turns.ts'
import { type ObservedDeployment, trimDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { workersName } from '#shared/kube/names.ts'
import { type DeploymentParts, deploymentObject, poolObject } from '#test/helpers/kube-objects.ts'

const deployment = (status: DeploymentParts['status'] = {}) => trimDeployment(deploymentObject('other', { status }))
const rolling = deployment({ replicas: 3, updatedReplicas: 1 })
const failed = deployment({
  replicas: 3,
  updatedReplicas: 1,
  conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
})

/** Turns for a pool beside one other Deployment. */
const setUp = (hasSynced = true) => {
  const clock = createHandClock()
  const beside: ObservedDeployment[] = []
  const { take, written } = createRolloutTurns(clock, {
    pools: () => [poolObject('web'), poolObject('other')],
    deployment: (name) => (name === workersName('web') ? rolling : beside[0]),
    hasSynced: () => hasSynced,
  })
  const takeBeside = (...deployments: readonly ObservedDeployment[]) => {
    beside.splice(0, 1, ...deployments)
    return take('uid-web')
  }
  return { clock, take: takeBeside, written }
}

t.test('rollout turns: one turn is taken at a time, and released', async (t) => {
  const { take } = setUp()
  const first = take()
  t.ok(first)
  t.equal(take(), undefined)
  first?.[Symbol.dispose]()
  t.ok(take())
})

t.test('rollout turns: no turn is given before the informers have synced', async (t) => {
  t.equal(setUp(false).take(), undefined)
})

t.test('rollout turns: a write of this process counts before the informer shows it', async (t) => {
  const { take, written } = setUp()
  written.remember('uid-other', '2', rolling)
  t.equal(take(deployment()), undefined)
})

t.test(
  'rollout turns: no turn is given during another rollout, unless it has failed or lasts half an hour',
  async (t) => {
    const { clock, take } = setUp()
    t.equal(take(rolling), undefined)
    await clock.advance(1_799_999)
    t.equal(take(rolling), undefined)
    take(failed)?.[Symbol.dispose]()
    await clock.advance(1)
    t.equal(take(rolling), undefined, 'another rollout has its own half hour')
    await clock.advance(1_799_999)
    t.equal(take(rolling), undefined)
    await clock.advance(1)
    t.ok(take(rolling))
  },
)

t.test('rollout turns: a Deployment with an unobserved change counts as rolling out', async (t) => {
  const { take } = setUp()
  const changed = deployment({ replicas: 3, updatedReplicas: 3 })
  t.equal(take({ ...changed, metadata: { ...changed.metadata, generation: 2 } }), undefined)
  t.ok(take({ ...changed, metadata: { ...changed.metadata, generation: 2, deletionTimestamp: 'now' } }))
})
