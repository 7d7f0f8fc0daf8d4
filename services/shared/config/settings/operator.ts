import { flag, integer, oneOf, parsed, text } from './setting.ts'
import { queueIdentitySettings } from './outside.ts'
import { hostPort } from './worker.ts'

/** Keys of a pool's Secret by which its workers may identify themselves to NATS, with the settings that name their files. */
export const workerNatsKeys = {
  credentials: { 'nats-credentials': queueIdentitySettings.natsCredentialsFile.name },
  nkey: { 'nats-nkey': queueIdentitySettings.natsNkeyFile.name },
  certificate: {
    'nats-tls.crt': queueIdentitySettings.natsCertificateFile.name,
    'nats-tls.key': queueIdentitySettings.natsKeyFile.name,
  },
} as const

type NatsFile = keyof typeof workerNatsKeys

const isNatsFile = (name: string): name is NatsFile => Object.hasOwn(workerNatsKeys, name)

/** Names that the controller and its selectors use. */
const ownName = /^(?:[^/]+\.)?(?:app\.kubernetes\.io|shutterfleet\.dev)\//

const parseNames = (written: string): Readonly<Record<string, string>> | undefined => {
  try {
    const entries: unknown = JSON.parse(written)
    if (typeof entries !== 'object' || entries === null || Array.isArray(entries)) return undefined
    const isValid = ([name, value]: readonly [string, unknown]) => !ownName.test(name) && typeof value === 'string'
    return Object.entries(entries).every(isValid) ? (entries as Readonly<Record<string, string>>) : undefined
  } catch {
    return undefined
  }
}

/** User and groups of workers, each left out where the platform assigns its own. */
export type WorkerIds = { readonly runAsUser?: number; readonly runAsGroup?: number; readonly fsGroup?: number }

const idNames = ['runAsUser', 'runAsGroup', 'fsGroup'] as const
const idMax = 2 ** 31 - 1

const parseIds = (written: string): WorkerIds | undefined => {
  try {
    const ids: unknown = JSON.parse(written)
    if (typeof ids !== 'object' || ids === null || Array.isArray(ids)) return undefined
    const entries = Object.entries(ids).filter(([, id]) => id !== null)
    const isValid = ([name, id]: readonly [string, unknown]) =>
      idNames.some((each) => each === name) && Number.isInteger(id) && Number(id) >= 1 && Number(id) <= idMax
    return entries.every(isValid) ? Object.fromEntries(entries) : undefined
  } catch {
    return undefined
  }
}

const workerNames = (name: string, help: string) =>
  parsed(
    name,
    {
      help,
      fallback: '{}',
      kind: 'JSON object of texts',
      problem: 'must be a JSON object of texts whose names are not of app.kubernetes.io or shutterfleet.dev',
    },
    parseNames,
  )

/** Settings of the controller on Kubernetes alone. The settings of a single pool are in its BrowserPool. */
export const operatorSettings = {
  kubeconfig: text('KUBECONFIG', {
    help: 'kubeconfig file of the cluster; empty: the in-cluster configuration',
    fallback: '',
  }),
  poolsNamespace: text('POOLS_NAMESPACE', {
    help: "namespace of the BrowserPools and their workers; empty: the controller's own",
    fallback: '',
  }),
  jobsNamespace: text('JOBS_NAMESPACE', {
    help: 'namespace of the Jobs of proxied captures; empty: that of the BrowserPools',
    fallback: '',
  }),
  controllerPod: text('CONTROLLER_POD', {
    help: 'name of this controller in the Lease and in events; empty: generated at each start',
    fallback: '',
  }),
  instance: parsed(
    'INSTANCE',
    {
      help: 'name of this installation, the label app.kubernetes.io/instance of all objects that the controller creates: installations whose Jobs share a namespace need different ones',
      fallback: 'shutterfleet',
      kind: 'label, at most 63 characters',
      problem: 'must be a label of Kubernetes: 1 to 63 of A-Z a-z 0-9 - _ . between letters or digits',
    },
    (value) => (/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(value) ? value : undefined),
  ),
  leaseSeconds: integer('CONTROLLER_LEASE_SECONDS', {
    help: 'time after which another controller takes over from one that has failed',
    unit: 's',
    fallback: 6,
    min: 3,
    max: 120,
  }),
  nodeProvisionSeconds: integer('NODE_PROVISION_SECONDS', {
    help: 'time that a node autoscaler gets to add a node for unschedulable pods; until then they count as future capacity',
    unit: 's',
    fallback: 300,
    min: 0,
    max: 3600,
  }),
  podImage: text('POD_IMAGE', { help: 'image of workers whose BrowserPool names none' }),
  podSecret: text('POD_SECRET', {
    help: 'Secrets of the workers, this name and the pool (NAME-standard), each with the keys nats-url, opening-keys and egress-token, and ca.crt with POD_EXTRA_CA, egress-ca.crt with POD_EGRESS_CA = secret, and those of POD_NATS_FILES',
    fallback: 'shutterfleet-worker',
  }),
  podNatsFiles: parsed(
    'POD_NATS_FILES',
    {
      help: 'what the Secrets of the workers contain for NATS besides its address: credentials (key nats-credentials), nkey (nats-nkey), certificate (nats-tls.crt and nats-tls.key); separated by commas; empty: nothing',
      fallback: '',
      kind: 'list of credentials | nkey | certificate',
      problem: 'must be a list of credentials, nkey, certificate',
    },
    (value): readonly NatsFile[] | undefined => {
      const names = value === '' ? [] : value.split(',').map((name) => name.trim())
      return names.every(isNatsFile) ? names : undefined
    },
  ),
  podExtraCa: flag('POD_EXTRA_CA', {
    help: 'whether the Secrets of the workers have a key ca.crt with certificates of authorities that workers trust for NATS and the object store',
    fallback: false,
  }),
  podEgressCa: parsed(
    'POD_EGRESS_CA',
    {
      help: 'where workers read the certificates that may identify the egress filter, which they then reach by TLS only: `secret`, the key egress-ca.crt of their Secrets, or configmap/NAME, the key ca.crt of a ConfigMap in their namespace; empty: without TLS',
      fallback: '',
      kind: 'secret | configmap/NAME',
      problem: 'must be secret or configmap/NAME',
    },
    (value) => (/^(?:|secret|configmap\/[a-z0-9][-a-z0-9.]{0,252})$/.test(value) ? value : undefined),
  ),
  podEgress: hostPort('POD_EGRESS', 'egress filter through which workers load pages'),
  podSeccomp: text('POD_SECCOMP', {
    help: "seccomp profile of the workers, a file below the kubelet's folder seccomp (shipped in k8s/seccomp); RuntimeDefault: the container runtime's own, under which workers start only with POD_ISOLATION = flags-only and POD_UNSAFE_NO_SANDBOX = true",
    fallback: 'shutterfleet-worker.json',
  }),
  podAppArmor: text('POD_APPARMOR', {
    help: "AppArmor profile of the workers, by the name under which nodes have loaded it (shipped in k8s/apparmor); RuntimeDefault: the container runtime's own, under which workers start only with POD_ISOLATION = flags-only; Unconfined: none; empty: left to the node, which has the same effect as RuntimeDefault where AppArmor is enabled",
    fallback: '',
  }),
  podSecurityContext: parsed(
    'POD_SECURITY_CONTEXT',
    {
      help: 'user and groups of the workers: runAsUser, runAsGroup, fsGroup; one that is left out is assigned by the platform, as by OpenShift, or is that of the image',
      fallback: '{"runAsUser":10001,"runAsGroup":10001,"fsGroup":10001}',
      kind: 'JSON object of ids',
      problem: `must be a JSON object of runAsUser, runAsGroup, fsGroup, each from 1 to ${idMax}`,
    },
    parseIds,
  ),
  podLabels: workerNames(
    'POD_LABELS',
    'labels of the workers, and of the Deployments and Jobs that run them, besides those of the controller and of their BrowserPool',
  ),
  podAnnotations: workerNames(
    'POD_ANNOTATIONS',
    'annotations of the workers, and of the Deployments and Jobs that run them; they override those of a BrowserPool',
  ),
  podIsolation: oneOf('POD_ISOLATION', {
    help: 'how workers isolate browsers: namespaces, which need user namespaces and an unmasked /proc, or only flags, which hide nothing of the pod from browsers',
    fallback: 'namespace',
    values: ['namespace', 'flags-only'],
  }),
  podUnsafeNoSandbox: flag('POD_UNSAFE_NO_SANDBOX', {
    help: "run Chromium in pods without its sandbox: a page that breaks its renderer then has the worker's rights",
    fallback: false,
  }),
}
