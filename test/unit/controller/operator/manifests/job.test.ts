import t from 'tap'
import { jobManifest, type JobOptions, jobRevision } from '#controller/operator/manifests/job.ts'
import { appliedAnnotation, poolLabels } from '#shared/kube/names.ts'
import { podSettings, poolObject } from '#test/helpers/kube-objects.ts'
import { type PodObject, workerSpecOf } from '#test/helpers/worker-pod-object.ts'

const options: JobOptions = {
  pool: poolObject('proxied').metadata,
  namespace: 'jobs',
  spec: {
    jobs: { max: 5, spares: 0, spareSeconds: 300, ttlSecondsAfterFinished: 60 },
    template: { image: 'worker:1' },
  },
  settings: podSettings,
}
const environmentOf = (manifest: ReturnType<typeof jobManifest>) =>
  Object.fromEntries(manifest.spec?.template.spec?.containers[0]?.env?.map(({ name, value }) => [name, value]) ?? [])

t.test('Job manifest: has labels and annotations of the settings', async (t) => {
  const settings = { ...podSettings, podLabels: { team: 'web' }, podAnnotations: { note: 'a' } }
  const { metadata, spec } = jobManifest('proxied-a1', { ...options, settings })
  t.match(metadata, { labels: { team: 'web' }, annotations: { note: 'a', [appliedAnnotation]: /./ } })
  t.match(spec, { template: { metadata: { labels: { team: 'web' }, annotations: { note: 'a' } } } })
})

t.test('Job manifest: the worker serves one capture and has a deadline', (t) => {
  const { metadata, spec } = jobManifest('proxied-a1', options)
  t.match(metadata, { name: 'proxied-a1', namespace: 'jobs', labels: poolLabels('shutterfleet', 'proxied') })
  t.match(spec, {
    backoffLimit: 0,
    podReplacementPolicy: 'Failed',
    activeDeadlineSeconds: 300 + 60 + 300 + 90,
    ttlSecondsAfterFinished: 60,
    podFailurePolicy: {
      rules: [
        { action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        { action: 'FailJob', onExitCodes: { containerName: 'worker', operator: 'NotIn', values: [0] } },
      ],
    },
    template: {
      metadata: { labels: poolLabels('shutterfleet', 'proxied') },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 100,
        containers: [{ name: 'worker', image: 'worker:1', args: ['node', 'services/worker/main-job.js'] }],
      },
    },
  })
  t.end()
})

t.test('Job manifest: tests recognize the worker as single-use', (t) => {
  const pod: object = { metadata: { name: 'worker' }, spec: jobManifest('proxied-a1', options).spec?.template.spec }
  t.ok(workerSpecOf(pod as PodObject).isSingleUse)
  t.end()
})

t.test('Job manifest: the Job has its BrowserPool as owner only in the same namespace', (t) => {
  const owner = {
    apiVersion: 'shutterfleet.dev/v1beta1',
    kind: 'BrowserPool',
    name: 'proxied',
    uid: 'uid-proxied',
    controller: true,
  }
  t.strictSame(jobManifest('proxied-a1', { ...options, namespace: 'n' }).metadata.ownerReferences, [owner])
  t.notOk('ownerReferences' in jobManifest('proxied-a1', options).metadata)
  t.end()
})

t.test('Job manifest: the worker gets the name of its Job, its pool, and its maximum wait', (t) => {
  t.match(environmentOf(jobManifest('proxied-a1', options)), {
    SHUTTERFLEET_WORKER_POD: 'proxied-a1',
    SHUTTERFLEET_WORKER_POOL: 'proxied',
    SHUTTERFLEET_WORKER_SLOTS: '1',
    SHUTTERFLEET_WORKER_SPARE_SECONDS: '300',
  })
  t.end()
})

t.test('Job manifest: the revision is the same for all Jobs of the same options', (t) => {
  const one = jobManifest('proxied-a1', options)
  const other = jobManifest('proxied-b2', {
    ...options,
    spec: { ...options.spec, jobs: { ...options.spec.jobs, max: 9 } },
  })
  t.equal(one.metadata.annotations?.[appliedAnnotation], jobRevision(options))
  t.equal(other.metadata.annotations?.[appliedAnnotation], jobRevision(options))
  const mended = { ...options, spec: { ...options.spec, template: { image: 'worker:2' } } }
  t.not(jobRevision(mended), jobRevision(options))
  t.end()
})
