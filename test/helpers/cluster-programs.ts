import { join } from 'node:path'
import type { NodeNetwork } from './nodes/network.ts'

/** The processes of a cluster, in start order. */
export const components = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'] as const

/** One process of a cluster. */
export type Component = (typeof components)[number]

/** Kubernetes user of the controller: without permissions until a Role is bound to it; its requests are audited. */
export const controllerUser = 'controller'

/** Location of a cluster: a folder, and a loopback address that no other cluster uses, so that its ports are free. */
export type ClusterPlace = {
  readonly folder: string
  readonly address: string
  /** Bearer token of the tests' user. */
  readonly token: string
  /** Network and number of real nodes; undefined with fake nodes. */
  readonly network?: Pick<NodeNetwork, 'services'>
  readonly nodes?: number
}

/** Name of a real node, from 1 on. */
export const nodeName = (index: number): string => `node-${index}`

/** Certificate of the authority whose client certificates the kubelets of real nodes accept. */
export const kubeletAuthority = ({ folder }: ClusterPlace): string => join(folder, 'kubelet-authority.crt')

const apiserverPort = 16_443
const etcdPort = 12_379
const etcdPeerPort = 12_380
const auditMegabytesMax = 4096

/** URL of etcd, without TLS. */
export const etcdUrl = ({ address }: ClusterPlace): string => `http://${address}:${etcdPort}`

/** URL of kube-apiserver. */
export const serverUrl = ({ address }: ClusterPlace): string => `https://${address}:${apiserverPort}`

/** The files that programs share, by content. */
export const clusterFiles = ({ folder }: ClusterPlace) => ({
  /** Data directory of etcd. */
  etcd: join(folder, 'etcd'),
  /** kube-apiserver generates its certificate; the file ends with the certificate of the signing authority. */
  authority: join(folder, 'certificates', 'apiserver.crt'),
  serviceAccountKey: join(folder, 'service-account.key'),
  tokens: join(folder, 'tokens.csv'),
  /** Certificate of the authority by which extension API servers recognise requests of kube-apiserver for other users. */
  frontProxyAuthority: join(folder, 'front-proxy-authority.crt'),
  /** Client certificates of kube-apiserver, for extension API servers and kubelets, without `.crt` and `.key`. */
  frontProxyClient: join(folder, 'front-proxy-client'),
  kubeletClient: join(folder, 'kubelet-client'),
  auditPolicy: join(folder, 'audit-policy.json'),
  /** Requests of the controller to kube-apiserver, one JSON event per line. */
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
      // A killed process loses no writes; only a power failure would.
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
    const { frontProxyAuthority, frontProxyClient } = clusterFiles(place)
    return [
      `--etcd-servers=${etcdUrl(place)}`,
      `--bind-address=${place.address}`,
      `--secure-port=${apiserverPort}`,
      // kube-apiserver rejects a loopback address. No client connects to the placeholder (RFC 5737).
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
      `--requestheader-client-ca-file=${frontProxyAuthority}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--proxy-client-cert-file=${frontProxyClient}.crt`,
      `--proxy-client-key-file=${frontProxyClient}.key`,
      `--audit-policy-file=${auditPolicy}`,
      `--audit-log-path=${audit}`,
      // Written before the response, so that no entry is missing after a kill; never rotated.
      '--audit-log-mode=blocking',
      `--audit-log-maxsize=${auditMegabytesMax}`,
      '--profiling=false',
      // Usual for clusters: privileged pods are forbidden by admission.
      '--allow-privileged=true',
    ]
  },

  'kube-controller-manager': (place) => [
    ...clientOf(place, 'kube-controller-manager'),
    `--service-account-private-key-file=${clusterFiles(place).serviceAccountKey}`,
    `--root-ca-file=${clusterFiles(place).authority}`,
    '--use-service-account-credentials=true',
    '--horizontal-pod-autoscaler-sync-period=1s',
    // Detects a dead node within seconds.
    ...(place.network ? ['--node-monitor-grace-period=10s', '--node-monitor-period=1s'] : []),
  ],

  'kube-scheduler': (place) => clientOf(place, 'kube-scheduler'),

  kwok: (place) => [
    `--kubeconfig=${clusterFiles(place).kubeconfig('kwok')}`,
    `--config=${clusterFiles(place).stages}`,
    '--manage-all-nodes=true',
    `--node-ip=${place.address}`,
    '--node-port=0',
    // With leases, a restarted kwok waits until the leases of the killed one expire.
    '--node-lease-duration-seconds=0',
  ],
}

/** Access of kube-apiserver to kubelets, for logs and commands in pods; and after how long pods leave a dead node. */
const ofRealNodes = (place: ClusterPlace): string[] => [
  `--kubelet-client-certificate=${clusterFiles(place).kubeletClient}.crt`,
  `--kubelet-client-key=${clusterFiles(place).kubeletClient}.key`,
  '--kubelet-preferred-address-types=InternalIP',
  '--default-not-ready-toleration-seconds=5',
  '--default-unreachable-toleration-seconds=5',
]

const clientOf = (place: ClusterPlace, component: Component): string[] => [
  `--kubeconfig=${clusterFiles(place).kubeconfig(component)}`,
  '--leader-elect=false',
  // With the default of 20 requests a second the controllers take 5 s longer to start.
  '--kube-api-qps=300',
  '--kube-api-burst=600',
  '--secure-port=0',
  '--profiling=false',
]
