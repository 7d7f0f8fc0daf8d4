import t from 'tap'
import { createRolloutFollower, rolloutOf } from '#controller/operator/apply/rollout.ts'
import { trimDeployment } from '#controller/operator/watch/observed-deployment.ts'
import { type DeploymentParts, deploymentObject } from '#test/helpers/kube-objects.ts'

type Parts = DeploymentParts & { readonly generation?: number }

const deployment = ({ generation = 2, ...parts }: Parts = {}) => {
  const object = deploymentObject('web', { applied: 'new', ...parts })
  return trimDeployment({ ...object, metadata: { ...object.metadata, generation } } as typeof object)
}
const seenBy = (observedGeneration: number, more: Parts['status'] = {}): Parts => ({
  status: { observedGeneration, ...more } as NonNullable<Parts['status']>,
})
const exceeded = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }]

for (const { name, parts, want } of [
  { name: 'is pending while another template is applied', parts: { applied: 'old', ...seenBy(2) }, want: 'pending' },
  { name: 'is pending until the Deployment controller has observed it', parts: seenBy(1), want: 'pending' },
  {
    name: 'progresses while workers of another template exist',
    parts: seenBy(2, { replicas: 3, updatedReplicas: 1 }),
    want: 'progressing',
  },
  {
    name: 'has failed when Kubernetes has given up',
    parts: seenBy(2, { replicas: 3, updatedReplicas: 1, conditions: exceeded }),
    want: 'failed',
  },
  {
    name: 'has not failed because the previous one has',
    parts: seenBy(1, { replicas: 3, updatedReplicas: 1, conditions: exceeded }),
    want: 'pending',
  },
  { name: 'is complete when all workers have its template', parts: seenBy(2), want: 'complete' },
] satisfies { name: string; parts: Parts; want: string }[])
  t.test(`rollout: a rollout ${name}`, async (t) => void t.equal(rolloutOf(deployment(parts), 'new', 2), want))

t.test('rollout: a rollout is pending if there is no Deployment', async (t) => {
  t.equal(createRolloutFollower()(undefined, 'new'), 'pending')
})

t.test('rollout: a change of the size alone is no rollout', async (t) => {
  const follow = createRolloutFollower()
  t.equal(follow(deployment({ generation: 2, ...seenBy(1) }), 'new'), 'pending')
  t.equal(follow(deployment({ generation: 3, ...seenBy(2) }), 'new'), 'complete')
  t.equal(follow(deployment({ generation: 4, applied: 'newer', ...seenBy(3) }), 'newer'), 'pending')
})
