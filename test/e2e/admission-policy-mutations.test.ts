import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { type JobOptions, jobManifest } from '#controller/operator/manifests/job.ts'
import { deploymentFields } from '#controller/operator/manifests/deployment.ts'
import type { PodSettings } from '#controller/operator/manifests/worker-pod.ts'
import { type KubeConnection, openConnection } from '#shared/kube/connection.ts'
import { applyAdmissionPolicy, settingsOfPolicy, sidecarOfPolicy } from '#test/helpers/admission-policy.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { grantController } from '#test/helpers/controller-role.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { podSettings, poolObject } from '#test/helpers/kube-objects.ts'
import { type KubeSchema, ManifestMutations } from '#test/helpers/manifest-mutations.ts'

const cluster = await startCluster(t, { controllerManager: false, kwok: false })
await grantController(cluster, 'default')
const connection = openConnection({ kubeconfig: cluster.controllerKubeconfig, userAgent: 'test' })
t.teardown(() => connection[Symbol.asyncDispose]())

type Answer = { readonly statusCode: number; readonly text: string }

/** Creates an object as the controller, without keeping it. */
const tryOut = async (
  path: string,
  object: unknown,
  to: Pick<KubeConnection, 'send'> = connection,
): Promise<Answer> => {
  const { statusCode, body } = await to.send({
    method: 'POST',
    path,
    query: { dryRun: 'All' },
    body: { type: 'application/json', text: JSON.stringify(object) },
    signal: AbortSignal.timeout(30_000),
  })
  const parts: Buffer[] = []
  for await (const part of body) parts.push(part)
  return { statusCode, text: Buffer.concat(parts).toString() }
}

const deploymentsPath = '/apis/apps/v1/namespaces/default/deployments'
const jobsPath = '/apis/batch/v1/namespaces/default/jobs'

const sidecar = {
  name: 'shipper',
  image: 'shipper:1',
  command: ['/shipper'],
  args: ['--all'],
  env: [{ name: 'LEVEL', value: 'info' }],
  volumeMounts: [{ name: 'fonts', mountPath: '/fonts' }],
}
const rich: PodSettings = {
  ...podSettings,
  podExtraCa: true,
  podEgressCa: 'configmap/authorities',
  podNatsFiles: ['credentials', 'certificate'],
  podAppArmor: 'shutterfleet-worker',
}
const plain: PodSettings = {
  ...podSettings,
  podEgressCa: 'secret',
  podNatsFiles: ['nkey'],
  podIsolation: 'flags-only',
  podSeccomp: 'RuntimeDefault',
  podUnsafeNoSandbox: true,
}
const template = {
  env: [{ name: 'SHUTTERFLEET_LOG_LEVEL' as const, value: 'debug' }],
  labels: { 'custom.shutterfleet.dev/team': 'web' },
  volumes: [
    { name: 'fonts', configMap: { name: 'fonts' } },
    { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } },
  ],
  volumeMounts: [{ name: 'fonts', mountPath: '/usr/share/fonts/own', readOnly: true }],
  sidecars: [sidecar],
  imagePullSecrets: [{ name: 'registry' }],
}
const pool = (name: string, spec: object) => poolObject(name, spec, { metadata: { namespace: 'default' } })
const deployment = (settings: PodSettings) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  ...deploymentFields(pool('web', { template }), settings),
})
const named = (object: ReturnType<typeof deployment>) => ({
  ...object,
  metadata: { ...object.metadata, name: 'tried', namespace: 'default' },
})
const job = (settings: PodSettings) => {
  const { metadata, spec } = pool('jobs', { pool: 'proxied' })
  const options: JobOptions = { pool: metadata, spec, namespace: 'default', settings }
  return jobManifest('tried', options)
}

/** Changes that the policy admits, and why. */
const admitted: readonly (readonly [RegExp, string])[] = [
  [
    /^\.spec\.(replicas|strategy|revisionHistoryLimit|progressDeadlineSeconds|ttlSecondsAfterFinished)\b/,
    'how many, how they are replaced',
  ],
  [/^\.spec\.(activeDeadlineSeconds|podFailurePolicy|podReplacementPolicy)\b/, 'when a Job is over, not what it does'],
  [/^\.spec\.selector\b/, 'selects the labels of the template, which are pinned'],
  [/\.template\.metadata\.labels\.(custom\.shutterfleet\.dev\/team|shutterfleet\.dev\/pool) /, 'labels of a pool'],
  [/\.template\.metadata\.annotations\b/, 'annotations that a BrowserPool may have'],
  [/\.template\.metadata \+ creationTimestamp/, 'without a meaning in a template'],
  [
    /\.volumes\.\w+\.emptyDir(\.sizeLimit)? removed/,
    'size, which the limit of the ephemeral storage or the memory bounds too',
  ],
  [/\.volumes\.fonts(\.configMap( |\.defaultMode| \+)| \+ emptyDir)/, 'which files of a ConfigMap that is allowed'],
  [/\.volumes\.(5 removed|scratch)/, 'a volume of the template, which is emptied with the pod'],
  [/\.initContainers(\.0)? removed/, 'a worker without sidecars'],
  [/\.imagePullPolicy =/, 'when a node fetches the image, which is pinned'],
  [/\.capabilities\.drop longer/, 'fewer rights'],
  [
    /\.env\.(SHUTTERFLEET_(LOG_LEVEL|WORKER_SLOTS|WORKER_POD|WORKER_SPARE_SECONDS))\b/,
    'a setting of the pool or of the worker',
  ],
  [/\.env\.\d+ removed/, 'a setting of the pool or of the worker'],
  [/\.(worker|shipper)\.resources\b/, 'how much it gets'],
  [
    /\.worker\.volumeMounts\.(3|4) removed|\.worker\.volumeMounts\.fonts\./,
    'mounts of the template, below folders from which nothing is executed',
  ],
  [/\.terminationGracePeriodSeconds/, 'how long it drains'],
  [/\.template\.spec\.dnsPolicy = Default/, 'a policy that a BrowserPool may have'],
  [/\.imagePullSecrets(\.0)? removed/, 'fewer Secrets'],
  [
    /\.template\.spec(\.schedulerName =| \+ (affinity|nodeSelector|priorityClassName|tolerations|topologySpreadConstraints))/,
    'where it runs',
  ],
]
/** Further fields that the API server itself refuses in a worker. */
const impossible =
  /\.matchLabels\.added|\.added added|\+ (claims|recursiveReadOnly|privileged|volumeDevices|restartPolicyRules|seLinuxChangePolicy|activeDeadlineSeconds|ephemeralContainers|hostIPC|hostNetwork|hostPID|terminationGracePeriodSeconds|backoffLimitPerIndex|maxFailedIndexes|selector|successPolicy|localhostProfile|procMount)$/

const settings = [rich, plain]
await applyAdmissionPolicy(cluster, {
  images: [podSettings.podImage, sidecar.image],
  secrets: ['registry'],
  settings: settings.map(settingsOfPolicy),
  sidecars: [sidecarOfPolicy(sidecar)],
  configMaps: ['fonts'],
})
const isInForce = async () => {
  const { statusCode } = await tryOut(deploymentsPath, { ...named(deployment(rich)), metadata: { name: 'tried' } })
  return statusCode === 403
}
await eventually(isInForce, { what: 'the policy is in force' })

type Document = { readonly components: { readonly schemas: Readonly<Record<string, KubeSchema>> } }
const schemasOf = async (group: string) =>
  (JSON.parse(await cluster.kubectl(['get', '--raw', `/openapi/v3/apis/${group}`])) as Document).components.schemas

/** The API server sets the selector of a Job, and labels by which it finds its pods. */
const withoutSelector = (kind: string, spec: object): object => {
  if (kind !== 'Job') return spec
  const { selector: _selector, ...others } = spec as { readonly selector: object; readonly template: object }
  const labels = { ...job(plain).spec?.template.metadata?.labels }
  return {
    ...others,
    template: { ...others.template, metadata: { ...(others.template as { metadata: object }).metadata, labels } },
  }
}

/** What the API server does of a change: `refused` by the policy, `invalid`, `unchanged`, or `admitted`. */
const outcomeOf = ({ statusCode, text }: Answer, before: unknown): string => {
  if (statusCode === 403 && text.includes('shutterfleet-workers')) return 'refused'
  if (statusCode === 422 || statusCode === 400) return 'invalid'
  if (statusCode !== 201) return text
  const { spec } = JSON.parse(text) as { readonly spec: unknown }
  return isDeepStrictEqual(withoutIds(spec), withoutIds(before)) ? 'unchanged' : 'admitted'
}
/** The API server gives each Job a new identifier. */
const withoutIds = (spec: unknown): unknown =>
  JSON.parse(
    JSON.stringify(spec).replaceAll(/"(batch\.kubernetes\.io\/)?controller-uid":"[^"]*"/g, '"controller-uid":""'),
  )

const reasonsUsed = new Set<string>()
for (const [kind, group, path, manifest] of [
  ['Deployment', 'apps/v1', deploymentsPath, named(deployment(rich))],
  ['Job', 'batch/v1', jobsPath, job(plain)],
] as const) {
  t.test(`admission policy: refuses each change of a ${kind} of workers, but for those with a reason`, async (t) => {
    const created = await tryOut(path, manifest)
    t.equal(created.statusCode, 201, created.text.slice(0, 2000))
    const { spec } = JSON.parse(created.text) as { readonly spec: object }
    const base = {
      apiVersion: manifest.apiVersion,
      kind,
      metadata: manifest.metadata,
      spec: withoutSelector(kind, spec),
    }
    const mutations = new ManifestMutations(await schemasOf(group), ['apiVersion', 'kind', 'metadata', 'status'])
    const all = mutations.of(base, kind)
    t.strictSame([...mutations.missing], [], 'each field of these types has a value to try')
    t.ok(all.length > 400, `${all.length} changes`)
    const silent: string[] = []
    for (const { path: changed, manifest: other } of all) {
      const outcome = outcomeOf(await tryOut(path, other), spec)
      if (
        ['refused', 'unchanged'].includes(outcome) ||
        (outcome === 'invalid' && (!/\+ |added|longer/.test(changed) || impossible.test(changed)))
      )
        continue
      const reason = outcome === 'admitted' ? admitted.find(([pattern]) => pattern.test(changed)) : undefined
      if (reason) reasonsUsed.add(String(reason[0]))
      else silent.push(`${changed}: ${outcome}`)
    }
    t.strictSame(silent, [])
  })
}

t.test('admission policy: each reason to admit a change is needed', async (t) => {
  t.strictSame(
    admitted.map(([pattern]) => String(pattern)).filter((each) => !reasonsUsed.has(each)),
    [],
  )
})
