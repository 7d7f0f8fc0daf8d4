import type {
  V1Container,
  V1EnvVar,
  V1PodSecurityContext,
  V1PodSpec,
  V1SecurityContext,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node'
import { prefix, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { workerNatsKeys, type operatorSettings } from '#shared/config/settings/operator.ts'
import { queueSettings } from '#shared/config/settings/outside.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import type { Pool } from '#shared/capture/lane.ts'
import type { BrowserPoolSpec } from '#shared/kube/browser-pool.ts'
import { poolLabels, poolSelector } from '#shared/kube/names.ts'
import { workerRequests } from '#shared/kube/worker-requests.ts'
import { workerContainer } from '#controller/operator/watch/observed-pod.ts'

/** The operator's settings for worker pods, and for the Deployments and Jobs that run them. */
export type PodSettings = Pick<
  SettingValues<typeof operatorSettings>,
  | 'instance'
  | 'podImage'
  | 'podSecret'
  | 'podExtraCa'
  | 'podEgress'
  | 'podEgressCa'
  | 'podNatsFiles'
  | 'podSeccomp'
  | 'podAppArmor'
  | 'podSecurityContext'
  | 'podLabels'
  | 'podAnnotations'
  | 'podIsolation'
  | 'podUnsafeNoSandbox'
  | 'nodeProvisionSeconds'
>

/** Input of a worker's pod. */
export type WorkerPodOptions = {
  readonly pool: Pool
  /** Name of the BrowserPool. */
  readonly browserPool: string
  readonly template: BrowserPoolSpec['template']
  readonly slots: number
  /** `main` runs until it is terminated; `main-job`, the worker of a Job, serves one capture. */
  readonly program: 'main' | 'main-job'
  /** Name in the worker's heartbeats; by default that of its pod. */
  readonly podName?: string
  /** Further settings, by name without the prefix. */
  readonly variables?: Readonly<Record<string, string>>
  /** Seconds from SIGTERM to SIGKILL. */
  readonly graceSeconds: number
  readonly settings: PodSettings
}

/** The pod template of a Deployment or a Job. */
export type PodTemplate = {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: V1PodSpec
}

type Sidecar = NonNullable<BrowserPoolSpec['template']['sidecars']>[number]

const probePort = 9090
const secretFolder = '/run/secrets/shutterfleet'
/** Where the ConfigMap with the certificates that identify egress is mounted. */
const egressCaFolder = '/run/egress-ca'
/** Keys of a pool's Secret, mounted as files; also `ca.crt`, `egress-ca.crt` and those for NATS if the settings say so. */
const secretKeys = ['nats-url', 'opening-keys', 'egress-token'] as const
/** Readable by the group, which `fsGroup` makes one of the worker's. */
const secretMode = 0o440
const shmMiBPerSlot = 256
const tmpMiBPerSlot = 1024
/** A worker whose probes do not respond after this time is restarted; liveness is not checked before. */
const startSeconds = 600

/**
 * The pod of a worker. It has no Kubernetes token and no secrets except the pool's own, cannot escalate privileges, and writes
 * only to /tmp and /dev/shm. The same options give the same pod.
 */
export const workerPod = (options: WorkerPodOptions): PodTemplate => {
  const { browserPool, template, program, graceSeconds, settings } = options
  const { labels, annotations, image, imagePullPolicy, resources, env, ...more } = template
  const { topologySpreadConstraints, volumes = [], volumeMounts = [], sidecars = [], ...placement } = more
  const ownLabels = poolLabels(settings.instance, browserPool)
  const isolated = settings.podIsolation === 'namespace'
  return {
    metadata: {
      labels: { ...labels, ...settings.podLabels, ...ownLabels },
      annotations: { ...evictionAnnotations[program], ...annotations, ...settings.podAnnotations },
    },
    spec: {
      ...placement,
      ...(topologySpreadConstraints && {
        topologySpreadConstraints: topologySpreadConstraints.map(
          spreadOf(poolSelector(settings.instance, browserPool)),
        ),
      }),
      containers: [
        {
          name: workerContainer,
          image: image ?? settings.podImage,
          ...(imagePullPolicy && { imagePullPolicy }),
          // Not `command`: the image's entry point is an init, which reaps orphaned browser processes.
          args: ['node', `services/worker/${program}.js`],
          resources: quantitiesOf(resources ?? defaultResources(options.slots)),
          env: variablesOf(options, env ?? []),
          ports: [{ name: 'probe', containerPort: probePort }],
          startupProbe: probe('/livez', { periodSeconds: 1, timeoutSeconds: 2, failureThreshold: startSeconds }),
          readinessProbe: probe('/readyz', { periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 2 }),
          livenessProbe: probe('/livez', { periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2 }),
          securityContext: securityOf(isolated),
          volumeMounts: [...mountsOf(settings), ...volumeMounts],
        },
      ],
      initContainers: sidecars.map(sidecarOf),
      volumes: [...volumesOf(options), ...volumes],
      securityContext: podSecurity(settings),
      // An unmasked /proc is allowed only if root in the pod is an unprivileged user on the node.
      ...(isolated && { hostUsers: false }),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: program === 'main-job' ? 'Never' : 'Always',
      terminationGracePeriodSeconds: graceSeconds,
    },
  }
}

const podSecurity = ({ podSecurityContext, podSeccomp, podAppArmor }: PodSettings): V1PodSecurityContext => ({
  runAsNonRoot: true,
  ...podSecurityContext,
  seccompProfile: profile(podSeccomp, ['RuntimeDefault']),
  ...(podAppArmor !== '' && { appArmorProfile: profile(podAppArmor, ['RuntimeDefault', 'Unconfined']) }),
})

/** A profile that is one of `types`, or has a name on the node. */
const profile = (name: string, types: readonly string[]) =>
  types.includes(name) ? { type: name } : { type: 'Localhost', localhostProfile: name }

const probe = (path: string, times: { periodSeconds: number; timeoutSeconds: number; failureThreshold: number }) => ({
  httpGet: { path, port: probePort },
  ...times,
})

const securityOf = (isolated: boolean): V1SecurityContext => ({
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
  // Browsers mount their own /proc, which the kernel refuses if the pod's is masked.
  ...(isolated && { procMount: 'Unmasked' }),
})

type Spread = NonNullable<BrowserPoolSpec['template']['topologySpreadConstraints']>[number]

const spreadOf = (matchLabels: Readonly<Record<string, string>>) => (spread: Spread) => ({
  ...spread,
  labelSelector: { matchLabels },
  // During a rollout, old pods do not count for the spread of new ones.
  matchLabelKeys: ['pod-template-hash'],
})

/** Kubernetes starts a sidecar before the worker and ends it after the worker, also in a Job. */
const sidecarOf = ({ resources, ...sidecar }: Sidecar): V1Container => ({
  ...sidecar,
  ...(resources && { resources: quantitiesOf(resources) }),
  restartPolicy: 'Always',
  securityContext: securityOf(false),
})

const itemsOf = (keys: readonly string[]) => keys.map((key) => ({ key, path: key }))

const natsFiles = ({ podNatsFiles }: PodSettings) =>
  podNatsFiles.flatMap((name) => Object.entries(workerNatsKeys[name]))

const secretItems = (settings: PodSettings) =>
  itemsOf([
    ...secretKeys,
    ...(settings.podExtraCa ? ['ca.crt'] : []),
    ...(settings.podEgressCa === 'secret' ? ['egress-ca.crt'] : []),
    ...natsFiles(settings).map(([key]) => key),
  ])

/** Name of the ConfigMap with the certificates that identify egress; undefined if they are elsewhere, or there is no TLS. */
const egressConfigMap = ({ podEgressCa }: PodSettings): string | undefined => podEgressCa.split('/')[1]

const mountsOf = (settings: PodSettings): V1VolumeMount[] => [
  { name: 'secrets', mountPath: secretFolder, readOnly: true },
  { name: 'tmp', mountPath: '/tmp' },
  { name: 'shm', mountPath: '/dev/shm' },
  ...(egressConfigMap(settings) === undefined
    ? []
    : [{ name: 'egress-ca', mountPath: egressCaFolder, readOnly: true }]),
]

const volumesOf = ({ pool, slots, settings }: WorkerPodOptions): V1Volume[] => {
  const secret = { secretName: `${settings.podSecret}-${pool}`, defaultMode: secretMode, items: secretItems(settings) }
  const name = egressConfigMap(settings)
  return [
    // Listed one by one, so that the node does not start the worker before a Secret that was created empty has all keys.
    { name: 'secrets', secret },
    ...(name === undefined ? [] : [{ name: 'egress-ca', configMap: { name, items: itemsOf(['ca.crt']) } }]),
    { name: 'tmp', emptyDir: { sizeLimit: `${slots * tmpMiBPerSlot}Mi` } },
    { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: `${slots * shmMiBPerSlot}Mi` } },
  ]
}

/**
 * Whether a node autoscaler may evict the pod to remove its node: a worker of a Deployment is replaced elsewhere, although it
 * has local storage; the capture of a Job would restart.
 */
const evictionAnnotations: Readonly<Record<WorkerPodOptions['program'], Readonly<Record<string, string>>>> = {
  main: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' },
  'main-job': { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false', 'karpenter.sh/do-not-disrupt': 'true' },
}

/**
 * Requests of disk are for the log, of which a kubelet keeps 50 MiB, and, with `flags-only`, for the profile of each browser.
 * Limits are what the worker itself allows: for each browser 2 GiB (`SHUTTERFLEET_WORKER_BROWSER_MEMORY_MAX`) and 1 GiB of
 * files, in memory or, with `flags-only`, on disk; and 512 MiB for the worker.
 */
const defaultResources = (slots: number) => ({
  requests: {
    cpu: `${workerRequests(slots).milliCores}m`,
    memory: `${workerRequests(slots).mebibytes}Mi`,
    'ephemeral-storage': `${128 + slots * 128}Mi`,
  },
  limits: { memory: `${512 + slots * 3072}Mi`, 'ephemeral-storage': `${256 + slots * tmpMiBPerSlot}Mi` },
})

type Quantities = Readonly<Record<string, number | string>>

const quantitiesOf = (resources: Readonly<Record<string, Quantities>>) =>
  Object.fromEntries(
    Object.entries(resources).map(([kind, amounts]) => [
      kind,
      Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)])),
    ]),
  )

/** The controller's variables override the template's, with and without the suffix `_FILE`. */
const variablesOf = (
  options: WorkerPodOptions,
  templateVariables: readonly { name: string; value: string }[],
): V1EnvVar[] => {
  const own = ownVariables(options)
  const taken = new Set(own.flatMap(({ name }) => [name, `${name}_FILE`, name.replace(/_FILE$/, '')]))
  return [...templateVariables.filter(({ name }) => !taken.has(name)), ...own]
}

const ownVariables = ({ pool, slots, podName, variables = {}, settings }: WorkerPodOptions): V1EnvVar[] => {
  const { host, port } = settings.podEgress
  const values: Readonly<Record<string, string>> = {
    [workerSettings.pool.name]: pool,
    [workerSettings.slots.name]: String(slots),
    [workerSettings.egress.name]: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    [workerSettings.networkIsolation.name]: settings.podIsolation,
    [workerSettings.unsafeNoSandbox.name]: String(settings.podUnsafeNoSandbox),
    [commonSettings.probeHost.name]: '::',
    [commonSettings.probePort.name]: String(probePort),
    [`${queueSettings.natsUrl.name}_FILE`]: `${secretFolder}/nats-url`,
    [`${workerSettings.openingKeys.name}_FILE`]: `${secretFolder}/opening-keys`,
    [`${workerSettings.egressToken.name}_FILE`]: `${secretFolder}/egress-token`,
    ...(settings.podEgressCa !== '' && {
      [workerSettings.egressCaFile.name]:
        settings.podEgressCa === 'secret' ? `${secretFolder}/egress-ca.crt` : `${egressCaFolder}/ca.crt`,
    }),
    ...Object.fromEntries(natsFiles(settings).map(([key, setting]) => [setting, `${secretFolder}/${key}`])),
    ...(podName !== undefined && { [workerSettings.pod.name]: podName }),
    ...variables,
  }
  const named = [
    ...Object.entries(values).map(([name, value]) => ({ name: prefix + name, value })),
    ...(settings.podExtraCa ? [{ name: 'NODE_EXTRA_CA_CERTS', value: `${secretFolder}/ca.crt` }] : []),
  ]
  if (podName !== undefined) return named
  return [...named, { name: prefix + workerSettings.pod.name, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }]
}
