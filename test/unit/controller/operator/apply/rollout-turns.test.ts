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

/** Turns for a pool beside whose Deployment there is this one. */
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

t.test('rollout turns: one is taken at a time, and given back', async (t) => {
  const { take } = setUp()
  const first = take()
  t.ok(first)
  t.equal(take(), undefined)
  first?.[Symbol.dispose]()
  t.ok(take())
})

t.test('rollout turns: nobody gets the turn before the informers have synced', async (t) => {
  t.equal(setUp(false).take(), undefined)
})

t.test('rollout turns: what this process wrote counts before the informer shows it', async (t) => {
  const { take, written } = setUp()
  written.remember('uid-other', '2', rolling)
  t.equal(take(deployment()), undefined)
})

t.test(
  'rollout turns: nobody gets the turn while another rolls out, unless that has failed or goes on for half an hour',
  async (t) => {
    const { clock, take } = setUp()
    t.equal(take(rolling), undefined)
    await clock.advance(1_799_999)
    t.equal(take(rolling), undefined)
    take(failed)?.[Symbol.dispose]()
    await clock.advance(1)
    t.equal(take(rolling), undefined, 'another rollout has a time of its own')
    await clock.advance(1_799_999)
    t.equal(take(rolling), undefined)
    await clock.advance(1)
    t.ok(take(rolling))
  },
)

t.test(
  'rollout turns: a Deployment whose change the Deployment controller has not observed is being rolled out',
  async (t) => {
    const { take } = setUp()
    const changed = deployment({ replicas: 3, updatedReplicas: 3 })
    t.equal(take({ ...changed, metadata: { ...changed.metadata, generation: 2 } }), undefined)
    t.ok(take({ ...changed, metadata: { ...changed.metadata, generation: 2, deletionTimestamp: 'now' } }))
  },
)
