import t from 'tap'
import { budgetFields, deploymentFields } from '#controller/operator/manifests/deployment.ts'
import type { PodTemplate } from '#controller/operator/manifests/worker-pod.ts'
import { appliedAnnotation, poolLabels, poolSelector } from '#shared/kube/names.ts'
import { podSettings, poolObject } from '#test/helpers/kube-objects.ts'

const fields = (spec?: Parameters<typeof poolObject>[1]) => deploymentFields(poolObject('web', spec), podSettings)
const workerVariables = ({ spec }: ReturnType<typeof fields>) => {
  const { template } = spec as { template: PodTemplate }
  return new Map(template.spec.containers[0]?.env?.map(({ name, value }) => [name, value]))
}
const appliedHash = (of: ReturnType<typeof fields>) => of.metadata?.annotations?.[appliedAnnotation]

t.test('Deployment manifest: has its pool as owner, the labels of the pool, and no size', async (t) => {
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

t.test('Deployment manifest: has labels and annotations of the settings, which select no pods', async (t) => {
  const settings = { ...podSettings, podLabels: { team: 'web' }, podAnnotations: { note: 'a' } }
  const { metadata, spec } = deploymentFields(poolObject('web'), settings)
  t.strictSame(metadata?.labels, { team: 'web', ...poolLabels('shutterfleet', 'web') })
  t.match(metadata?.annotations, { note: 'a', [appliedAnnotation]: /./ })
  t.match(spec, { selector: { matchLabels: poolSelector('shutterfleet', 'web') } })
  t.notMatch(spec, { selector: { matchLabels: { team: 'web' } } })
  t.match(spec, { template: { metadata: { labels: { team: 'web' }, annotations: { note: 'a' } } } })
})

t.test('Deployment manifest: the rolling update of the spec is used', async (t) => {
  const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 }
  t.match(fields({ rollingUpdate }).spec, { strategy: { type: 'RollingUpdate', rollingUpdate } })
})

t.test('Deployment manifest: the hash covers the template, not the size of the pool', async (t) => {
  t.equal(appliedHash(fields()), appliedHash(fields()))
  t.equal(appliedHash(fields()), appliedHash(fields({ replicas: 9, autoscaling: { maxReplicas: 9 } })))
  t.not(appliedHash(fields()), appliedHash(fields({ template: { image: 'other' } })))
  t.not(appliedHash(fields()), appliedHash(fields({ autoscaling: { slots: 2 } })))
  t.not(appliedHash(fields()), appliedHash(fields({ terminationGracePeriodSeconds: 50 })))
})

t.test('Deployment manifest: workers have the number of reserved slots if there are any', async (t) => {
  const reserved = (reservedSlots: number) =>
    workerVariables(fields({ autoscaling: { slots: 4, reservedSlots } })).get('SHUTTERFLEET_WORKER_RESERVED_SLOTS')
  t.equal(reserved(3), '3')
  t.equal(reserved(0), undefined)
})

t.test(
  'Deployment manifest: a PodDisruptionBudget allows evicting a fifth of the workers, and unhealthy ones always',
  async (t) => {
    t.strictSame(budgetFields(poolObject(), 'one').spec, {
      maxUnavailable: '20%',
      selector: { matchLabels: poolSelector('one', 'web') },
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    })
  },
)
