import { join } from 'node:path'
import type { NodeNetwork } from './nodes/network.ts'

/** The processes of a cluster, in the order in which they start. */
export const components = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'] as const

/** One process of a cluster. */
export type Component = (typeof components)[number]

/** The user that the controller is to Kubernetes: it may do nothing until a Role is bound to it, and all it asks is written down. */
export const controllerUser = 'controller'

/** Where a cluster lives: a folder, and an address of loopback that is its own, so that its ports are free. */
export type ClusterPlace = {
  readonly folder: string
  readonly address: string
  /** What the tests' own user is known by. */
  readonly token: string
  /** Of a cluster with real nodes, and how many these are. */
  readonly network?: Pick<NodeNetwork, 'services'>
  readonly nodes?: number
}

/** Name of a real node, from 1 on. */
export const nodeName = (index: number): string => `node-${index}`

/** Certificate of the authority whose clients real nodes' kubelets trust. */
export const kubeletAuthority = ({ folder }: ClusterPlace): string => join(folder, 'kubelet-authority.crt')

const apiserverPort = 16_443
const etcdPort = 12_379
const etcdPeerPort = 12_380
const auditMegabytesMax = 4096

/** Where etcd answers, without TLS. */
export const etcdUrl = ({ address }: ClusterPlace): string => `http://${address}:${etcdPort}`

/** Where kube-apiserver answers. */
export const serverUrl = ({ address }: ClusterPlace): string => `https://${address}:${apiserverPort}`

/** The files that programs share, by what they hold. */
export const clusterFiles = ({ folder }: ClusterPlace) => ({
  /** Everything that etcd keeps. */
  etcd: join(folder, 'etcd'),
  /** kube-apiserver makes its own certificate; the file ends with that of the authority that signed it. */
  authority: join(folder, 'certificates', 'apiserver.crt'),
  serviceAccountKey: join(folder, 'service-account.key'),
  tokens: join(folder, 'tokens.csv'),
  auditPolicy: join(folder, 'audit-policy.json'),
  /** What the controller asked of kube-apiserver, an event in JSON per line. */
  audit: join(folder, 'audit.log'),
  stages: join(folder, 'stages.yaml'),
  kubeconfig: (user: string) => join(folder, `${user}.kubeconfig`),
  log: (component: Component) => join(folder, `${component}.log`),
})

/** The command line of a component, without the program. */
export const argumentsOf = (component: Component, place: ClusterPlace): readonly string[] =>
  commandLines[component](place)

const commandLines: Record<Component, (place: ClusterPlace) => readonly string[]> = {
  etcd: (place) => {
    const peerUrl = `http://${place.address}:${etcdPeerPort}`
    return [
      `--data-dir=${clusterFiles(place).etcd}`,
      // A killed process loses nothing that it wrote; only a machine that loses power would.
      '--unsafe-no-fsync',
      '--log-level=warn',
      `--listen-client-urls=${etcdUrl(place)}`,
      `--advertise-client-urls=${etcdUrl(place)}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
    ]
  },

  'kube-apiserver': (place) => {
    const { authority, serviceAccountKey, tokens, auditPolicy, audit } = clusterFiles(place)
    return [
      `--etcd-servers=${etcdUrl(place)}`,
      `--bind-address=${place.address}`,
      `--secure-port=${apiserverPort}`,
      // Refused if it is of loopback. Nobody dials the stand-in (RFC 5737).
      `--advertise-address=${place.network ? place.address : '192.0.2.1'}`,
      `--cert-dir=${join(authority, '..')}`,
      `--token-auth-file=${tokens}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      `--service-cluster-ip-range=${place.network?.services ?? '10.96.0.0/16'}`,
      ...(place.network ? ofRealNodes(place) : []),
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${serviceAccountKey}`,
      `--service-account-signing-key-file=${serviceAccountKey}`,
      `--audit-policy-file=${auditPolicy}`,
      `--audit-log-path=${audit}`,
      // Written before the answer, so that nothing is missing when the process is killed; never begun anew.
      '--audit-log-mode=blocking',
      `--audit-log-maxsize=${auditMegabytesMax}`,
      '--profiling=false',
      // As clusters are set up: what forbids privileged pods is admission.
      '--allow-privileged=true',
    ]
  },

  'kube-controller-manager': (place) => [
    ...clientOf(place, 'kube-controller-manager'),
    `--service-account-private-key-file=${clusterFiles(place).serviceAccountKey}`,
    `--root-ca-file=${clusterFiles(place).authority}`,
    '--use-service-account-credentials=true',
    '--horizontal-pod-autoscaler-sync-period=1s',
    // A node that has died is seen within seconds.
    ...(place.network ? ['--node-monitor-grace-period=10s', '--node-monitor-period=1s'] : []),
  ],

  'kube-scheduler': (place) => clientOf(place, 'kube-scheduler'),

  kwok: (place) => [
    `--kubeconfig=${clusterFiles(place).kubeconfig('kwok')}`,
    `--config=${clusterFiles(place).stages}`,
    '--manage-all-nodes=true',
    `--node-ip=${place.address}`,
    '--node-port=0',
    // With leases, a kwok that is started again waits until those of the killed one run out.
    '--node-lease-duration-seconds=0',
  ],
}

/** How kube-apiserver reaches kubelets, for logs and commands in pods; and when pods leave a dead node. */
const ofRealNodes = ({ folder }: ClusterPlace): string[] => [
  `--kubelet-client-certificate=${join(folder, 'kubelet-client.crt')}`,
  `--kubelet-client-key=${join(folder, 'kubelet-client.key')}`,
  '--kubelet-preferred-address-types=InternalIP',
  '--default-not-ready-toleration-seconds=5',
  '--default-unreachable-toleration-seconds=5',
]

const clientOf = (place: ClusterPlace, component: Component): string[] => [
  `--kubeconfig=${clusterFiles(place).kubeconfig(component)}`,
  '--leader-elect=false',
  // With the default of 20 requests a second the controllers take 5 s longer to begin.
  '--kube-api-qps=300',
  '--kube-api-burst=600',
  '--secure-port=0',
  '--profiling=false',
]
