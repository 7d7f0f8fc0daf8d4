import t from 'tap'
import { type WorkerPodOptions, workerPod } from '#controller/operator/manifests/worker-pod.ts'
import { poolLabels, poolSelector } from '#shared/kube/names.ts'
import { knownNames } from '#shared/config/settings/all.ts'
import { podSettings } from '#test/helpers/kube-objects.ts'

const pod = (more: Partial<WorkerPodOptions> = {}) =>
  workerPod({
    pool: 'standard',
    browserPool: 'web',
    template: {},
    slots: 2,
    program: 'main',
    graceSeconds: 100,
    settings: podSettings,
    ...more,
  })
const workerContainer = (more?: Partial<WorkerPodOptions>) => pod(more).spec.containers[0]!
const variablesOf = (more?: Partial<WorkerPodOptions>) =>
  new Map(workerContainer(more).env?.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]))

t.test('worker pod: the environment has the pool and the paths of the secrets, and no secret', async (t) => {
  t.strictSame(
    [...variablesOf()],
    [
      ['SHUTTERFLEET_WORKER_POOL', 'standard'],
      ['SHUTTERFLEET_WORKER_SLOTS', '2'],
      ['SHUTTERFLEET_WORKER_EGRESS', 'egress:3128'],
      ['SHUTTERFLEET_WORKER_NETWORK_ISOLATION', 'namespace'],
      ['SHUTTERFLEET_WORKER_UNSAFE_NO_SANDBOX', 'false'],
      ['SHUTTERFLEET_PROBE_HOST', '::'],
      ['SHUTTERFLEET_PROBE_PORT', '9090'],
      ['SHUTTERFLEET_NATS_URL_FILE', '/run/secrets/shutterfleet/nats-url'],
      ['SHUTTERFLEET_WORKER_OPENING_KEYS_FILE', '/run/secrets/shutterfleet/opening-keys'],
      ['SHUTTERFLEET_EGRESS_TOKEN_FILE', '/run/secrets/shutterfleet/egress-token'],
      ['SHUTTERFLEET_WORKER_POD', { fieldRef: { fieldPath: 'metadata.name' } }],
    ],
  )
  t.match(pod().spec.volumes?.[0], {
    name: 'secrets',
    secret: {
      secretName: 'worker-secret-standard',
      defaultMode: 288,
      items: ['nats-url', 'opening-keys', 'egress-token'].map((key) => ({ key, path: key })),
    },
  })
  t.strictSame(workerContainer().args, ['node', 'services/worker/main.js'])
})

t.test('worker pod: a worker trusts the authorities in its Secret only if the setting is on', async (t) => {
  const trusted = (podExtraCa: boolean) => {
    const settings = { ...podSettings, podExtraCa }
    const items = pod({ settings }).spec.volumes?.[0]?.secret?.items ?? []
    return [variablesOf({ settings }).get('NODE_EXTRA_CA_CERTS'), items.some(({ key }) => key === 'ca.crt')]
  }
  t.strictSame(trusted(true), ['/run/secrets/shutterfleet/ca.crt', true])
  t.strictSame(trusted(false), [undefined, false])
})

t.test(
  'worker pod: a worker reads what it trusts for egress from its Secret or a ConfigMap, or needs none',
  async (t) => {
    const trusted = (podEgressCa: string) => {
      const settings = { ...podSettings, podEgressCa }
      const { volumes, containers } = pod({ settings }).spec
      const path = variablesOf({ settings }).get('SHUTTERFLEET_EGRESS_CA_FILE')
      return { path, volumes, mounts: containers[0]?.volumeMounts }
    }
    const item = { key: 'egress-ca.crt', path: 'egress-ca.crt' }
    const inSecret = trusted('secret')
    t.equal(inSecret.path, '/run/secrets/shutterfleet/egress-ca.crt')
    t.strictSame(inSecret.volumes?.find(({ name }) => name === 'secrets')?.secret?.items?.at(-1), item)
    const inConfigMap = trusted('configmap/authorities')
    t.equal(inConfigMap.path, '/run/egress-ca/ca.crt')
    const configMap = { name: 'authorities', items: [{ key: 'ca.crt', path: 'ca.crt' }] }
    t.strictSame(
      inConfigMap.volumes?.find(({ name }) => name === 'egress-ca'),
      { name: 'egress-ca', configMap },
    )
    t.match(
      inConfigMap.mounts?.find(({ name }) => name === 'egress-ca'),
      { mountPath: '/run/egress-ca' },
    )
    t.notMatch(JSON.stringify(pod({ settings: podSettings })), /egress-ca|EGRESS_CA/)
  },
)

t.test('worker pod: a worker has the files for NATS in its Secret that the setting names', async (t) => {
  const settings = { ...podSettings, podNatsFiles: ['nkey', 'certificate'] as const }
  const items = pod({ settings }).spec.volumes?.find(({ name }) => name === 'secrets')?.secret?.items ?? []
  const variables = variablesOf({ settings })
  const named = ['NKEY', 'CERTIFICATE', 'KEY'].map((name) => variables.get(`SHUTTERFLEET_NATS_${name}_FILE`))
  const keys = ['nats-nkey', 'nats-tls.crt', 'nats-tls.key']
  t.strictSame(
    items.slice(-3).map(({ key }) => key),
    keys,
  )
  t.strictSame(
    named,
    keys.map((key) => `/run/secrets/shutterfleet/${key}`),
  )
  t.notOk(variables.has('SHUTTERFLEET_NATS_CREDENTIALS_FILE'))
})

t.test('worker pod: a worker whose event loop has been blocked for 10 s is restarted', async (t) => {
  const { httpGet, periodSeconds = 0, timeoutSeconds = 0, failureThreshold = 0 } = workerContainer().livenessProbe ?? {}
  t.equal(httpGet?.path, '/livez')
  t.equal(Math.max(periodSeconds, timeoutSeconds) * failureThreshold, 10)
})

t.test("worker pod: the image's init is the first process, and liveness is checked after the startup", async (t) => {
  t.notOk('command' in workerContainer())
  const { httpGet, periodSeconds = 0, failureThreshold = 0 } = workerContainer().startupProbe ?? {}
  t.equal(httpGet?.path, '/livez')
  t.equal(periodSeconds * failureThreshold, 600)
})

t.test('worker pod: node autoscalers may evict a worker but not a Job, unless the template overrides it', async (t) => {
  const evict = 'cluster-autoscaler.kubernetes.io/safe-to-evict'
  const keep = 'karpenter.sh/do-not-disrupt'
  t.strictSame(pod().metadata.annotations, { [evict]: 'true' })
  t.strictSame(pod({ program: 'main-job' }).metadata.annotations, { [evict]: 'false', [keep]: 'true' })
  const template = { annotations: { [evict]: 'false' } }
  t.strictSame(pod({ template }).metadata.annotations, { [evict]: 'false' })
})

t.test('worker pod: every variable is a setting', async (t) => {
  const names = [...variablesOf().keys()].map((name) => name.replace(/^SHUTTERFLEET_|_FILE$/g, ''))
  t.strictSame(
    names.filter((name) => !knownNames.has(name)),
    [],
  )
})

t.test('worker pod: the worker of a Job reports under the given name, and is not restarted', async (t) => {
  const of = { program: 'main-job', podName: 'job-1', variables: { WORKER_SPARE_SECONDS: '60' } } as const
  t.match(Object.fromEntries(variablesOf(of)), {
    SHUTTERFLEET_WORKER_POD: 'job-1',
    SHUTTERFLEET_WORKER_SPARE_SECONDS: '60',
  })
  t.strictSame(workerContainer(of).args, ['node', 'services/worker/main-job.js'])
  t.equal(pod(of).spec.restartPolicy, 'Never')
  t.equal(pod().spec.restartPolicy, 'Always')
})

t.test('worker pod: a worker has minimal permissions', async (t) => {
  const { spec } = pod()
  t.match(spec, {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 100,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 10_001,
      fsGroup: 10_001,
      seccompProfile: { type: 'Localhost', localhostProfile: 'shutterfleet-worker.json' },
    },
  })
  t.match(workerContainer().securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
})

t.test('worker pod: namespace isolation needs an unmasked /proc and a user namespace', async (t) => {
  t.equal(workerContainer().securityContext?.procMount, 'Unmasked')
  t.equal(pod().spec.hostUsers, false)
  const settings = { ...podSettings, podIsolation: 'flags-only', podSeccomp: 'RuntimeDefault' } as const
  t.notOk('procMount' in (workerContainer({ settings }).securityContext ?? {}))
  t.notOk('hostUsers' in pod({ settings }).spec)
  t.strictSame(pod({ settings }).spec.securityContext?.seccompProfile, { type: 'RuntimeDefault' })
})

t.test('worker pod: user and groups are those of the settings, or left to the platform', async (t) => {
  t.match(pod().spec.securityContext, { runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001 })
  const settings = { ...podSettings, podSecurityContext: { runAsGroup: 5 } }
  const { seccompProfile: _, ...ids } = pod({ settings }).spec.securityContext ?? {}
  t.strictSame(ids, { runAsNonRoot: true, runAsGroup: 5 })
})

t.test('worker pod: the AppArmor profile is a loaded one by name, a type, or left to the node', async (t) => {
  const profileOf = (podAppArmor: string) =>
    pod({ settings: { ...podSettings, podAppArmor } }).spec.securityContext?.appArmorProfile
  t.notOk('appArmorProfile' in (pod().spec.securityContext ?? {}))
  t.strictSame(profileOf('shutterfleet-worker'), { type: 'Localhost', localhostProfile: 'shutterfleet-worker' })
  for (const type of ['Unconfined', 'RuntimeDefault']) t.strictSame(profileOf(type), { type })
})

t.test(
  'worker pod: labels and annotations of the settings override those of a pool, not those of the controller',
  async (t) => {
    const podLabels = { team: 'a', 'app.kubernetes.io/instance': 'other' }
    const settings = { ...podSettings, podLabels, podAnnotations: { note: 'a' } }
    const { labels, annotations } = pod({
      settings,
      template: { labels: { team: 'b' }, annotations: { note: 'b' } },
    }).metadata
    t.strictSame(labels, { team: 'a', ...poolLabels('shutterfleet', 'web') })
    t.equal(annotations?.['note'], 'a')
  },
)

t.test('worker pod: the fields of the template are in the pod', async (t) => {
  const template = {
    image: 'mine:1',
    imagePullPolicy: 'Always' as const,
    imagePullSecrets: [{ name: 'pull' }],
    resources: { requests: { cpu: '1', memory: 1000 }, limits: { memory: '1Gi' } },
    env: [{ name: 'TZ', value: 'UTC' }],
    labels: { team: 'a' },
    annotations: { note: 'b' },
    nodeSelector: { arch: 'amd64' },
    tolerations: [{ key: 'browsers' }],
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' as const }],
    priorityClassName: 'high',
    runtimeClassName: 'gvisor',
  }
  const { metadata, spec } = pod({ template })
  t.strictSame(metadata.labels, { team: 'a', ...poolLabels('shutterfleet', 'web') })
  t.equal(metadata.annotations?.['note'], 'b')
  t.match(spec, {
    imagePullSecrets: [{ name: 'pull' }],
    nodeSelector: { arch: 'amd64' },
    tolerations: [{ key: 'browsers' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'high',
    runtimeClassName: 'gvisor',
    topologySpreadConstraints: [
      {
        topologyKey: 'zone',
        labelSelector: { matchLabels: poolSelector('shutterfleet', 'web') },
        matchLabelKeys: ['pod-template-hash'],
      },
    ],
  })
  t.match(workerContainer({ template }), {
    image: 'mine:1',
    imagePullPolicy: 'Always',
    resources: { requests: { cpu: '1', memory: '1000' }, limits: { memory: '1Gi' } },
  })
  t.equal(variablesOf({ template }).get('TZ'), 'UTC')
  t.equal(workerContainer().image, 'worker:1')
})

t.test('worker pod: sidecars start before the worker and end after it, without additional permissions', async (t) => {
  const volumes = [{ name: 'logs', emptyDir: { sizeLimit: '10Mi' } }]
  const sidecar = { name: 'shipper', image: 'shipper:1', resources: { limits: { cpu: 1 } } }
  const { spec } = pod({
    template: { volumes, sidecars: [sidecar], volumeMounts: [{ name: 'logs', mountPath: '/mnt/logs' }] },
  })
  t.strictSame(spec.initContainers, [
    {
      ...sidecar,
      resources: { limits: { cpu: '1' } },
      restartPolicy: 'Always',
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
      },
    },
  ])
  t.strictSame(
    spec.volumes?.map(({ name }) => name),
    ['secrets', 'tmp', 'shm', 'logs'],
  )
  t.strictSame(spec.containers[0]?.volumeMounts?.at(-1), { name: 'logs', mountPath: '/mnt/logs' })
  t.strictSame(pod({}).spec.initContainers, [])
})

t.test('worker pod: scheduler, DNS and minDomains are those of the template', async (t) => {
  const dns = { dnsPolicy: 'Default' as const, dnsConfig: { options: [{ name: 'ndots' as const, value: '1' }] } }
  const spread = { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const, minDomains: 3 }
  const { spec } = pod({ template: { schedulerName: 'volcano', ...dns, topologySpreadConstraints: [spread] } })
  t.match(spec, { schedulerName: 'volcano', ...dns, topologySpreadConstraints: [spread] })
})

t.test('worker pod: the template cannot override variables of the controller, as a value or as a file', async (t) => {
  const env = ['PROBE_PORT', 'WORKER_EGRESS', 'WORKER_EGRESS_FILE', 'NATS_URL'].map((name) => ({
    name: `SHUTTERFLEET_${name}`,
    value: 'stolen',
  }))
  const variables = variablesOf({ template: { env, labels: { 'shutterfleet.dev/pool': 'other' } } })
  t.notOk([...variables.values()].includes('stolen'))
  t.equal(new Set(variables.keys()).size, workerContainer({ template: { env } }).env?.length)
  t.match(
    pod({ template: { labels: { 'shutterfleet.dev/pool': 'other' } } }).metadata.labels,
    poolLabels('shutterfleet', 'web'),
  )
})

t.test('worker pod: an IPv6 address of egress is in brackets', async (t) => {
  const settings = { ...podSettings, podEgress: { host: '::1', port: 1 } }
  t.equal(variablesOf({ settings }).get('SHUTTERFLEET_WORKER_EGRESS'), '[::1]:1')
})

t.test(
  'worker pod: memory, disk and volumes have limits that grow with the slots, unless the template sets them',
  async (t) => {
    t.match(workerContainer({ slots: 2 }).resources, {
      requests: { cpu: '1000m', memory: '1100Mi', 'ephemeral-storage': '384Mi' },
      limits: { memory: '6656Mi', 'ephemeral-storage': '2304Mi' },
    })
    const unbounded = pod({ slots: 2 }).spec.volumes?.filter(({ emptyDir }) => emptyDir && !emptyDir.sizeLimit)
    t.strictSame(unbounded, [])
    t.strictSame(workerContainer({ template: { resources: { limits: { memory: '1Gi' } } } }).resources, {
      limits: { memory: '1Gi' },
    })
  },
)
