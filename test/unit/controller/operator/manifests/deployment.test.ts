import t from 'tap'
import { budgetFields, deploymentFields } from '#controller/operator/manifests/deployment.ts'
import { appliedAnnotation, poolLabels, poolSelector } from '#shared/kube/names.ts'
import { podSettings, poolObject } from '#test/helpers/kube-objects.ts'

const fields = (spec?: Parameters<typeof poolObject>[1]) => deploymentFields(poolObject('web', spec), podSettings)
const hashOf = (of: ReturnType<typeof fields>) => of.metadata?.annotations?.[appliedAnnotation]

t.test('Deployment manifest: it is owned by its pool, has its labels, and leaves its size out', async (t) => {
  const { metadata, spec } = fields()
  t.strictSame(metadata?.labels, poolLabels('shutterfleet', 'web'))
  t.strictSame(metadata?.ownerReferences, [
    {
      apiVersion: 'shutterfleet.dev/v1beta1',
      kind: 'BrowserPool',
      name: 'web',
      uid: 'uid-web',
      controller: true,
    },
  ])
  t.match(spec, {
    selector: { matchLabels: { 'app.kubernetes.io/instance': 'shutterfleet', 'shutterfleet.dev/pool': 'web' } },
    strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
    template: { metadata: { labels: poolLabels('shutterfleet', 'web') }, spec: { terminationGracePeriodSeconds: 100 } },
  })
  t.notOk('replicas' in spec)
})

t.test('Deployment manifest: a rollout without a surge is that of the spec', async (t) => {
  const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 }
  t.match(fields({ rollingUpdate }).spec, { strategy: { type: 'RollingUpdate', rollingUpdate } })
})

t.test(
  'Deployment manifest: the hash is that of what is applied: of the template, not of how the pool is sized',
  async (t) => {
    t.equal(hashOf(fields()), hashOf(fields()))
    t.equal(hashOf(fields()), hashOf(fields({ replicas: 9, autoscaling: { maxReplicas: 9 } })))
    t.not(hashOf(fields()), hashOf(fields({ template: { image: 'other' } })))
    t.not(hashOf(fields()), hashOf(fields({ autoscaling: { slots: 2 } })))
    t.not(hashOf(fields()), hashOf(fields({ terminationGracePeriodSeconds: 50 })))
  },
)

t.test(
  'Deployment manifest: a PodDisruptionBudget allows a fifth of the workers at once, and unhealthy ones always',
  async (t) => {
    t.strictSame(budgetFields(poolObject(), 'one').spec, {
      maxUnavailable: '20%',
      selector: { matchLabels: poolSelector('one', 'web') },
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    })
  },
)
