import t from 'tap'
import { createRolloutTurns } from '#controller/operator/apply/rollout-turns.ts'
import { trimDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { type DeploymentParts, deploymentObject } from '#test/helpers/kube-objects.ts'

const deployment = (status: DeploymentParts['status'] = {}) => trimDeployment(deploymentObject('other', { status }))
const rolling = deployment({ replicas: 3, updatedReplicas: 1 })
const failed = deployment({
  replicas: 3,
  updatedReplicas: 1,
  conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
})

t.test('rollout turns: one is taken at a time, and given back', async (t) => {
  const { take } = createRolloutTurns(createHandClock())
  const first = take([])
  t.ok(first)
  t.equal(take([]), undefined)
  first?.[Symbol.dispose]()
  t.ok(take([]))
})

t.test(
  'rollout turns: nobody gets the turn while another rolls out, unless that has failed or goes on for half an hour',
  async (t) => {
    const clock = createHandClock()
    const { take } = createRolloutTurns(clock)
    t.equal(take([deployment(), rolling]), undefined)
    await clock.advance(1_799_999)
    t.equal(take([rolling]), undefined)
    take([failed])?.[Symbol.dispose]()
    await clock.advance(1)
    t.equal(take([rolling]), undefined, 'another rollout has a time of its own')
    await clock.advance(1_799_999)
    t.equal(take([rolling]), undefined)
    await clock.advance(1)
    t.ok(take([rolling]))
  },
)

t.test(
  'rollout turns: a Deployment whose change the Deployment controller has not observed is being rolled out',
  async (t) => {
    const { take } = createRolloutTurns(createHandClock())
    const changed = deployment({ replicas: 3, updatedReplicas: 3 })
    t.equal(take([{ ...changed, metadata: { ...changed.metadata, generation: 2 } }]), undefined)
    t.ok(take([{ ...changed, metadata: { ...changed.metadata, generation: 2, deletionTimestamp: 'now' } }]))
  },
)
