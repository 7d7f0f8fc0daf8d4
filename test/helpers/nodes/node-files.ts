import { chmod, cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { clusterFiles, type ClusterPlace, kubeletAuthority, nodeName } from '#test/helpers/cluster-programs.ts'
import type { NodeNetwork } from './network.ts'

const profiles = resolve(import.meta.dirname, '../../../k8s/seccomp')
const apiGroup = 'kubelet.config.k8s.io/v1beta1'

/** Sandbox image of every pod. */
const pauseImage = 'docker.io/shutterfleet/pause:local'

/** In a node's folder: how containerd reaches registries, read at each pull. */
const registriesFolder = 'registries'

/** Writes the configuration files of a node into its folder, for `k8s/test-cluster/node.sh`. */
export const writeNodeFiles = async (place: ClusterPlace, network: NodeNetwork, index: number): Promise<string> => {
  const folder = join(place.folder, nodeName(index))
  const files = clusterFiles(place)
  await mkdir(join(folder, 'kubelet', 'seccomp'), { recursive: true })
  for (const name of ['cni', 'containerd']) await mkdir(join(folder, name))
  // The root user of a pod's user namespace, unprivileged here, traverses these folders to the pod's files.
  for (const each of ['..', '.', 'kubelet', 'containerd']) await chmod(join(folder, each), 0o711)
  for (const name of await readdir(profiles)) {
    if (name.endsWith('.json')) await cp(join(profiles, name), join(folder, 'kubelet', 'seccomp', name))
  }
  const write = (name: string, content: string | object) =>
    writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
  await write('containerd.toml', containerd(folder))
  await write('cni/network.conflist', podNetwork(folder, network.pods(index)))
  await write('kubelet.json', kubelet(folder, kubeletAuthority(place), { name: nodeName(index), dns: network.address }))
  await write('kube-proxy.json', kubeProxy(files.kubeconfig('kube-proxy'), network.allPods, nodeName(index)))
  await cp(files.kubeconfig(nodeName(index)), join(folder, 'kubelet.kubeconfig'))
  return folder
}

/** Lets a node pull images of the registry `host` over HTTP from `address`. */
export const addRegistry = async (folder: string, host: string, address: string): Promise<void> => {
  const own = join(folder, registriesFolder, host)
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'hosts.toml'), `server = 'http://${address}'\n`)
}

const containerd = (folder: string) => `version = 3
root = '${folder}/containerd/root'
state = '${folder}/containerd/state'
disabled_plugins = ['io.containerd.nri.v1.nri', 'io.containerd.snapshotter.v1.erofs', 'io.containerd.differ.v1.erofs']
[grpc]
  address = '${folder}/containerd/containerd.sock'
[ttrpc]
  address = '${folder}/containerd/containerd.sock.ttrpc'
[plugins.'io.containerd.cri.v1.images']
  snapshotter = 'overlayfs'
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = '${pauseImage}'
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = '${folder}/${registriesFolder}'
[plugins.'io.containerd.cri.v1.runtime']
  # For a machine whose root may not lower the score of a process.
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'runc'
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = 'io.containerd.runc.v2'
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['/usr/lib/cni']
    conf_dir = '${folder}/cni'
`

const podNetwork = (folder: string, pods: string) => ({
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      // Not a bridge: packets between pods of one node are routed, so that packet filter rules apply, and a Service's responses
      // come from its address.
      type: 'ptp',
      ipMasq: false,
      ipam: {
        type: 'host-local',
        dataDir: join(folder, 'addresses'),
        ranges: [[{ subnet: pods }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
})

const kubelet = (folder: string, authority: string, { name, dns }: { name: string; dns: string }) => ({
  apiVersion: apiGroup,
  kind: 'KubeletConfiguration',
  authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: authority } },
  authorization: { mode: 'Webhook' },
  containerRuntimeEndpoint: `unix://${folder}/containerd/containerd.sock`,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${cgroupOf(folder, name)}`,
  enforceNodeAllocatable: [],
  // Tolerates test machines without cgroup v2, with swap, or without the right to lower oom_score_adj.
  failCgroupV1: false,
  failSwapOn: false,
  oomScoreAdj: 0,
  seccompDefault: true,
  clusterDomain: 'cluster.local',
  clusterDNS: [dns],
  podLogsDir: join(folder, 'pod-logs'),
  volumePluginDir: join(folder, 'kubelet', 'volume-plugins'),
  readOnlyPort: 0,
  nodeStatusUpdateFrequency: '2s',
  nodeLeaseDurationSeconds: 8,
  imageGCHighThresholdPercent: 100,
  imageMaximumGCAge: '0s',
  evictionHard: { 'nodefs.available': '1%', 'imagefs.available': '1%', 'memory.available': '100Mi' },
})

const kubeProxy = (kubeconfig: string, clusterCIDR: string, hostnameOverride: string) => ({
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
  mode: 'iptables',
  clientConnection: { kubeconfig },
  clusterCIDR,
  hostnameOverride,
  // Leaves kernel-wide settings unchanged.
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
})

/** Name of a node's cgroup, unique on this machine. */
export const cgroupOf = (folder: string, name: string): string =>
  `shutterfleet-${folder
    .split('/')
    .at(-2)
    ?.replaceAll(/[^\w-]/g, '')}-${name}`
