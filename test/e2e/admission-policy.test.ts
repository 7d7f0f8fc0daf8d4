import t from 'tap'
import { budgets, deployments } from '#controller/operator/watch/observed-deployment.ts'
import { pods } from '#controller/operator/watch/observed-pod.ts'
import { type PodSettings, workerPod } from '#controller/operator/manifests/worker-pod.ts'
import { createKubeApi } from '#shared/kube/client.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { workersName } from '#shared/kube/names.ts'
import type { Resource } from '#shared/kube/resource.ts'
import { applyAdmissionPolicy, settingsOfPolicy, sidecarOfPolicy } from '#test/helpers/admission-policy.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { podSettings } from '#test/helpers/kube-objects.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'

const world = await startOperatorCluster(t)
const { cluster, applyPool, settles, holds } = world
const images = ['none', podSettings.podImage]
// The API server itself rejects an unmasked /proc together with most of the fields tested here.
const settings = { ...podSettings, podIsolation: 'flags-only' } as const

/** Settings of the operator of `world`. */
const operatorSettings = { ...settings, podSecret: 'shutterfleet-worker', podEgress: { host: '127.0.0.1', port: 3128 } }

/** The shipped policy for the tests' namespace, images and settings. */
const applyPolicy = (which: 'own' | 'all', ...more: readonly (typeof settings | PodSettings)[]) =>
  applyAdmissionPolicy(cluster, {
    images,
    repositories: ['images.example.com/worker'],
    settings: [settings, operatorSettings, ...more].map(settingsOfPolicy),
    sidecars: [sidecarOfPolicy({ name: 'more', image: podSettings.podImage })],
    configMaps: ['more'],
    podLabels: ['cost=web'],
    podAnnotations: ['mesh/inject=false'],
    debuggers: ['operators'],
    debugImages: ['debugger:1'],
    allPods: which === 'all',
  })

/** The serialized pod template of a worker. */
type SentPod = {
  readonly metadata: { readonly labels: object }
  readonly spec: {
    readonly volumes: readonly object[]
    readonly securityContext: object
    readonly containers: readonly { readonly securityContext: object; readonly env: readonly object[] }[]
  }
}
const workerOptions: Parameters<typeof workerPod>[0] = {
  pool: 'standard',
  browserPool: 'web',
  template: {},
  slots: 1,
  program: 'main',
  graceSeconds: 100,
  settings,
}
const created = workerPod(workerOptions)
const template = JSON.parse(JSON.stringify(created)) as SentPod
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...template.metadata, name: 'tried' }, spec: template.spec }
const [container] = template.spec.containers
const withSpec = (spec: object) => ({ ...pod, spec: { ...pod.spec, ...spec } })
const withContainer = (more: object) => withSpec({ containers: [{ ...container, ...more }] })
const withSecurity = (more: object) => withContainer({ securityContext: { ...container?.securityContext, ...more } })
const withVolume = (volume: object) => withSpec({ volumes: [...template.spec.volumes, { name: 'more', ...volume }] })
const deployment = (labels: object = template.metadata.labels, spec: object = template.spec) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'tried', labels },
  spec: { selector: { matchLabels: template.metadata.labels }, template: { metadata: template.metadata, spec } },
})

/** The error of the API server for a request; '' if it is accepted. */
const errorOf = (args: readonly string[], input?: object) =>
  cluster.kubectl(args, input && JSON.stringify(input)).then(
    () => '',
    ({ stderr }: { stderr: string }) => stderr,
  )
const tryOut = (object: object, ...args: string[]) =>
  errorOf(['create', '--dry-run=server', '-f', '-', ...args], object)
const asController = ['--kubeconfig', cluster.controllerKubeconfig]

await applyPolicy('own')
await eventually(async () => (await tryOut(withContainer({ image: 'other' }))) !== '', {
  what: 'the policy is in force',
})

t.test('admission policy: the controller scales and creates workers under it; other users may write', async (t) => {
  await applyPool('web', { autoscaling: { enabled: false }, replicas: 2 })
  await settles('web', 2)
  const name = workersName('web')
  await cluster.kubectl(['label', 'deployment', name, 'app.kubernetes.io/managed-by-'])
  await applyPool('web', { autoscaling: { enabled: false }, replicas: 1 })
  await settles('web', 1)
  t.match(await errorOf(['rollout', 'restart', 'deployment', name]), '', 'other users may write too')
  await applyPool('jobs', { pool: 'proxied' })
  await world.queue.send(1, { pool: 'proxied' })
  await world.queue.allEnded()
})

t.test('admission policy: a BrowserPool with a foreign image is Stalled with the reason', async (t) => {
  await applyPool('foreign', { autoscaling: { enabled: false }, template: { image: 'foreign:1' } })
  await holds('foreign', 'Stalled', 'True ApplyFailed')
  const { message } = (await world.conditionOf('foreign', 'Stalled'))!
  t.match(message, /images of workers are pinned; not allowed: foreign:1/)
  await cluster.kubectl(['delete', 'bp', 'foreign'])
})

t.test('admission policy: sidecars with pinned images and ConfigMap volumes are admitted', async (t) => {
  const withSidecar = (image: string) => {
    const volumes = [{ name: 'more', configMap: { name: 'more' } }]
    return {
      ...pod,
      spec: workerPod({ ...workerOptions, template: { volumes, sidecars: [{ name: 'more', image }] } }).spec,
    }
  }
  t.equal(await tryOut(withSidecar(podSettings.podImage)), '')
  t.match(await tryOut(withSidecar('foreign:1')), /images of workers are pinned; not allowed: foreign:1/)
})

t.test('admission policy: worker pods have only pinned images, allowed Secrets and no privileges', async (t) => {
  t.equal(await tryOut(pod), '')
  t.equal(await tryOut(withContainer({ image: 'none' })), '')
  const rejected: readonly (readonly [string, object, RegExp])[] = [
    ['image', withContainer({ image: 'other' }), /not allowed: other/],
    ['image of an init container', withSpec({ initContainers: [{ name: 'x', image: 'x' }] }), /not allowed: x/],
    ['Secret', withVolume({ secret: { secretName: 'other' } }), /the Secret of their pool/],
    [
      'Secret of the worker in another container',
      withSpec({ containers: [container, { ...container, name: 'x' }] }),
      /only the container worker mounts its volumes/,
    ],
    ['folder of the node', withVolume({ hostPath: { path: '/' } }), /the Secret of their pool/],
    [
      'token',
      withVolume({ projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } }),
      /the Secret of their pool/,
    ],
    ['pull secret', withSpec({ imagePullSecrets: [{ name: 'other' }] }), /the Secret of their pool/],
    [
      'variable of a Secret',
      withContainer({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'other', key: 'a' } } }] }),
      /the Secret of their pool/,
    ],
    [
      'variables of a Secret',
      withContainer({ envFrom: [{ secretRef: { name: 'other' } }] }),
      /the Secret of their pool/,
    ],
    ['token by default', withSpec({ automountServiceAccountToken: true }), /no token/],
    ['network of the node', withSpec({ hostNetwork: true }), /not: hostNetwork/],
    ['IPC of the node', withSpec({ hostIPC: true }), /not: hostIPC/],
    ['processes of the node', withSpec({ hostPID: true }), /not: hostPID/],
    [
      'no seccomp profile',
      withSpec({ securityContext: { ...template.spec.securityContext, seccompProfile: { type: 'Unconfined' } } }),
      /seccomp profile/,
    ],
    ['command', withContainer({ command: ['sh', '-c', 'cat /run/secrets/shutterfleet/*'] }), /the entry point/],
    ['program', withContainer({ args: ['sh'] }), /args are those of a Deployment or of a Job/],
    ['hook', withContainer({ lifecycle: { preStop: { exec: { command: ['sh'] } } } }), /the entry point/],
    [
      'file of the Secret as termination message',
      withContainer({ terminationMessagePath: '/run/secrets/shutterfleet/nats-url' }),
      /are unprivileged/,
    ],
    [
      'variable that loads code',
      withContainer({ env: [...container!.env, { name: 'NODE_OPTIONS', value: '--require=/mnt/x' }] }),
      /the variables of the controller's settings/,
    ],
    ['root', withSpec({ securityContext: { ...template.spec.securityContext, runAsNonRoot: false } }), /no root/],
    ['privileged', withSecurity({ privileged: true, allowPrivilegeEscalation: true }), /are unprivileged/],
    ['escalation', withSecurity({ allowPrivilegeEscalation: true }), /are unprivileged/],
    ['capability', withSecurity({ capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } }), /without capabilities/],
    ['capabilities', withSecurity({ capabilities: {} }), /without capabilities/],
    ['writable root', withSecurity({ readOnlyRootFilesystem: false }), /read-only/],
    ['profile of a container', withSecurity({ seccompProfile: { type: 'Unconfined' } }), /are unprivileged/],
    ['root of a container', withSecurity({ runAsNonRoot: false }), /not root/],
    ['user 0', withSecurity({ runAsUser: 0 }), /not root/],
    ['port of the node', withContainer({ ports: [{ containerPort: 9090, hostPort: 9090 }] }), /port and probes/],
  ]
  for (const [what, object, message] of rejected) t.match(await tryOut(object), message, what)
  t.match(await tryOut(withContainer({ securityContext: undefined })), /are unprivileged/, 'no security context')
})

t.test('admission policy: worker pods have the AppArmor profile of the settings only', async (t) => {
  for (const type of ['Unconfined', 'RuntimeDefault', 'Localhost']) {
    const appArmorProfile = { type, ...(type === 'Localhost' && { localhostProfile: 'other' }) }
    const changed = withSpec({ securityContext: { ...template.spec.securityContext, appArmorProfile } })
    t.match(await tryOut(changed), /AppArmor profile/, type)
    t.match(await tryOut(withSecurity({ appArmorProfile })), /are unprivileged/, `${type} of a container`)
  }
  const security = { ...container?.securityContext, appArmorProfile: { type: 'Unconfined' } }
  const injected = (securityContext: object) =>
    withSpec({ containers: [container, { name: 'injected', image: 'none', securityContext }] })
  t.equal(await tryOut(injected({ ...container?.securityContext })), '')
  t.match(await tryOut(injected(security)), /are unprivileged/, 'of an injected container')
  const annotations = { 'container.apparmor.security.beta.kubernetes.io/worker': 'unconfined' }
  const annotated = { ...pod, metadata: { ...pod.metadata, annotations } }
  t.match(await tryOut(annotated), /are unprivileged/, 'the older annotation')
})

t.test(
  'admission policy: of an allowed repository any tag and digest runs, of one that begins alike none',
  async (t) => {
    for (const image of ['images.example.com/worker:9', `images.example.com/worker@sha256:${'1'.repeat(64)}`])
      t.equal(await tryOut(withContainer({ image })), '', image)
    for (const image of [
      'images.example.com/workers:9',
      'images.example.com/worker',
      'images.example.com/worker:9/other:1',
    ])
      t.match(await tryOut(withContainer({ image })), /images of workers are pinned; not allowed/, image)
  },
)

t.test('admission policy: worker pods have the ids of the settings, or those that the platform assigns', async (t) => {
  const assigned = { ...settings, podSecurityContext: { runAsGroup: 10_001 } }
  const { spec } = JSON.parse(JSON.stringify(workerPod({ ...workerOptions, settings: assigned }))) as SentPod
  const assignedPod = (ofPod: object, ofWorker: object) =>
    withSpec({
      securityContext: { ...spec.securityContext, ...ofPod },
      containers: [{ ...container, securityContext: { ...container?.securityContext, ...ofWorker } }],
    })
  const ofOpenShift = assignedPod(
    { fsGroup: 1_000_650_000, seLinuxOptions: { level: 's0:c1' } },
    { runAsUser: 1_000_650_000 },
  )
  t.not(await tryOut(ofOpenShift), '')
  await applyPolicy('own', assigned)
  t.teardown(() => applyPolicy('own'))
  await eventually(async () => (await tryOut(ofOpenShift)) === '')
  t.match(await tryOut(assignedPod({ runAsGroup: 5 }, {})), /workers have no token, no root/)
  t.match(await tryOut(assignedPod({ fsGroup: 0 }, {})), /workers have no token, no root/)
  t.match(await tryOut(assignedPod({}, { runAsUser: 0 })), /not root/)
  t.match(await tryOut(assignedPod({ seLinuxOptions: { type: 'spc_t' } }, {})), /workers have no token, no root/)
})

t.test('admission policy: templates have labels and annotations of the settings only', async (t) => {
  const withNames = (labels: object, annotations: object) => {
    const { labels: own } = template.metadata
    const made = deployment() as { spec: { template: { metadata: object } } }
    const metadata = { labels: { ...own, ...labels }, annotations }
    return { ...made, spec: { ...made.spec, template: { ...made.spec.template, metadata } } }
  }
  t.equal(await tryOut(withNames({ cost: 'web' }, { 'mesh/inject': 'false' }), ...asController), '')
  for (const labels of [{ cost: 'other' }, { app: 'web' }]) {
    t.match(
      await tryOut(withNames(labels, {}), ...asController),
      /of its workers and of the settings/,
      Object.values(labels).join(),
    )
  }
  t.match(await tryOut(withNames({}, { 'mesh/inject': 'true' }), ...asController), /or the settings name/)
})

t.test('admission policy: only debuggers add ephemeral containers, without privileges', async (t) => {
  const [worker] = await world.podsOf('web')
  const debug = ['debug', worker!.metadata.name, '--image=other', '--target=worker', '--', 'sh']
  t.match(await errorOf(debug), /not allowed: other/, 'an ephemeral container')
  const operator = ['--as=olga', '--as-group=system:masters', '--as-group=operators']
  const debugger1 = (profile: string, ...as: readonly string[]) =>
    errorOf(['debug', worker!.metadata.name, '--image=debugger:1', `--profile=${profile}`, ...as, '--', 'sh'])
  t.match(await debugger1('restricted'), /not allowed: debugger:1/, 'not a debugger')
  t.match(await debugger1('sysadmin', ...operator), /not allowed: debugger:1/, 'privileged')
  const { metadata, spec } = await cluster.get<{ metadata: { name: string }; spec: object }>(
    'pod',
    worker!.metadata.name,
  )
  const path = `/api/v1/namespaces/default/pods/${metadata.name}/ephemeralcontainers`
  for (const more of [
    { capabilities: undefined },
    { seccompProfile: { type: 'Unconfined' } },
    { seccompProfile: undefined },
    { appArmorProfile: { type: 'Unconfined' } },
  ]) {
    const securityContext = {
      ...{ runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      ...{ seccompProfile: { type: 'RuntimeDefault' }, ...more },
    }
    const ephemeralContainers = [{ name: 'debugger', image: 'debugger:1', securityContext }]
    const changed = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...spec, ephemeralContainers } }
    const refused = await errorOf(['replace', `--raw=${path}`, '--filename=-', ...operator], changed)
    t.match(refused, /not allowed: debugger:1/, Object.keys(more).join())
  }
  t.notMatch(await debugger1('restricted', ...operator), /denied|not allowed/, 'an operator')
  t.match(JSON.stringify(await cluster.get('pod', worker!.metadata.name)), /"image":"debugger:1"/)
})

t.test('admission policy: the controller writes only objects of its installation, without privileges', async (t) => {
  t.equal(await tryOut(deployment(), ...asController), '')
  t.match(await tryOut(deployment({}), ...asController), /labels of its installation/)
  t.match(
    await tryOut(deployment(undefined, withContainer({ image: 'other' }).spec), ...asController),
    /not allowed: other/,
  )
  const other = { ...template.metadata.labels, 'app.kubernetes.io/instance': 'other' }
  t.match(await tryOut(deployment(other), ...asController), /labels of its installation/)
  const withToken = withSpec({ automountServiceAccountToken: undefined }).spec
  t.match(await tryOut(deployment(undefined, withToken), ...asController), /no token/)
  const named = withSpec({ dnsConfig: { options: [{ name: 'ndots', value: '1' }] } }).spec
  t.equal(await tryOut(deployment(undefined, named), ...asController), '')
  for (const more of [
    { dnsPolicy: 'None', dnsConfig: { nameservers: ['10.6.6.6'] } },
    { dnsConfig: { nameservers: ['10.6.6.6'] } },
    { dnsConfig: { searches: ['attacker.example'] } },
    { hostAliases: [{ ip: '10.6.6.6', hostnames: ['nats.nats.svc'] }] },
  ]) {
    t.match(
      await tryOut(deployment(undefined, withSpec(more).spec), ...asController),
      /no resolvers of their own|not: hostAliases/,
    )
  }
  const annotated = deployment()
  const annotations = { 'k8s.v1.cni.cncf.io/networks': 'other' }
  annotated.spec.template.metadata = { ...template.metadata, annotations } as typeof template.metadata
  t.match(await tryOut(annotated, ...asController), /only the annotations that a BrowserPool may have/)
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'tried' } }
  const once = { template: { spec: { ...template.spec, restartPolicy: 'Never' } } }
  t.match(await tryOut({ ...job, spec: once }, ...asController), /labels of its installation/)
  const unlabelled = deployment()
  unlabelled.spec.template.metadata = { labels: { ...template.metadata.labels, team: 'web' } }
  t.match(await tryOut(unlabelled, ...asController), /of its workers and of the settings, and no others/)
  t.match(
    await tryOut(deployment(undefined, withVolume({ secret: { secretName: 'other' } }).spec), ...asController),
    /the Secret of their pool/,
  )
})

t.test('admission policy: the controller changes no foreign object, and of pods only the deletion cost', async (t) => {
  const foreign = { labels: { a: 'b' }, spec: { containers: [{ name: 'x', image: 'foreign' }] } }
  await cluster.apply({
    ...deployment(foreign.labels),
    spec: {
      selector: { matchLabels: foreign.labels },
      template: { metadata: { labels: foreign.labels }, spec: foreign.spec },
    },
  })
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'foreign', namespace: 'default' },
    spec: foreign.spec,
  })
  await using connection = openConnection({ kubeconfig: cluster.controllerKubeconfig, userAgent: 'test' })
  const api = createKubeApi(connection)
  const refusal = (request: Promise<unknown>) => request.then(() => '', String)
  const ref = (resource: Resource, name: string) => ({ resource, namespace: 'default', name })
  const { labels } = template.metadata
  const label = { kind: 'merge', body: { metadata: { labels } } } as const
  const takeOver = {
    kind: 'merge',
    body: { metadata: { labels }, spec: { template: deployment().spec.template } },
  } as const
  t.match(await refusal(api.patch(ref(deployments, 'tried'), takeOver)), /labels of its installation/)
  const scale = { ...ref(deployments, 'tried'), subresource: 'scale' } as const
  t.match(await refusal(api.patch(scale, { kind: 'merge', body: { spec: { replicas: 0 } } })), /size only/)
  const metadata = { name: 'foreign', namespace: 'default' }
  await cluster.apply({ apiVersion: budgets.apiVersion, kind: budgets.kind, metadata, spec: { maxUnavailable: 1 } })
  t.match(await refusal(api.patch(ref(budgets, 'foreign'), label)), /labels of its installation/)
  t.match(await refusal(api.remove(ref(pods, 'foreign'))), /labels of its installation/)
  t.match(await refusal(api.patch(ref(pods, 'foreign'), label)), /labels of its installation/)
  const [worker] = await world.podsOf('web')
  const own = ref(pods, worker!.metadata.name)
  const image = [{ op: 'replace', path: '/spec/containers/0/image', value: podSettings.podImage }]
  t.match(await refusal(api.patch(own, { kind: 'json', body: image })), /only the annotation of its deletion cost/)
  const annotate = (annotations: object) =>
    refusal(api.patch(own, { kind: 'merge', body: { metadata: { annotations } } }))
  t.match(await annotate({ a: 'b' }), /only the annotation of its deletion cost/)
  t.equal(await annotate({ 'controller.kubernetes.io/pod-deletion-cost': '-1' }), '')
})

t.test('admission policy: a namespace for workers only admits no other pod', async (t) => {
  const other = { ...withContainer({ image: 'other' }), metadata: { name: 'other' } }
  t.equal(await tryOut(other), '')
  await applyPolicy('all')
  await eventually(async () => /not allowed: other/.test(await tryOut(other)), {
    what: 'the policy applies to all pods',
  })
  const withoutWorker = (securityContext: object) => ({
    ...withSpec({ volumes: [], securityContext, containers: [{ ...container, name: 'x', env: [], volumeMounts: [] }] }),
    metadata: { name: 'other' },
  })
  const plain = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
  t.equal(await tryOut(withoutWorker(plain)), '')
  const unconfined = { ...plain, appArmorProfile: { type: 'Unconfined' } }
  t.match(await tryOut(withoutWorker(unconfined)), /AppArmor profile/, 'a pod without a worker')
  t.equal(await errorOf(['label', 'pod', 'foreign', 'a=b']), '', 'an existing pod may be updated')
})
