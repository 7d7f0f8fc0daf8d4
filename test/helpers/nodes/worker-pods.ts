import { workerPod, type WorkerPodOptions } from '#controller/operator/manifests/worker-pod.ts'
import type { NodeCluster } from './node-cluster.ts'

// The local image of a Dockerfile target.
const imageOf = (target: string): string => `shutterfleet/${target}:local`

/** Seccomp profile of workers on nodes, from `k8s/seccomp`. */
const workerProfile = 'shutterfleet-worker.json'

type Differences = { readonly seccomp?: string; readonly isolation?: 'namespace' | 'flags-only' }

/** A worker's pod as the operator creates it, with the locally built image. */
export const workerManifest = (
  name: string,
  options: Pick<WorkerPodOptions, 'pool'> & { readonly image: string; readonly egress: { host: string; port: number } },
  { seccomp = workerProfile, isolation = 'namespace' }: Differences = {},
): object => {
  const { metadata, spec } = workerPod({
    pool: options.pool,
    browserPool: options.pool,
    template: { imagePullPolicy: 'Never' },
    slots: 1,
    program: 'main',
    graceSeconds: 10,
    settings: {
      instance: 'shutterfleet',
      podImage: imageOf(options.image),
      podSecret: 'worker',
      podExtraCa: false,
      podEgressCa: '',
      podNatsFiles: [],
      podEgress: options.egress,
      podSeccomp: seccomp,
      podAppArmor: '',
      podSecurityContext: { runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001 },
      podLabels: {},
      podAnnotations: {},
      podIsolation: isolation,
      podUnsafeNoSandbox: false,
      nodeProvisionSeconds: 300,
    },
  })
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name, namespace: 'default' }, spec }
}

/** An idle pod of an image, with a restricted security context. */
export const idlePod = (image: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: image, namespace: 'default' },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 2,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'idle',
        image: imageOf(image),
        imagePullPolicy: 'Never',
        args: ['sleep', 'infinity'],
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          readOnlyRootFilesystem: true,
        },
      },
    ],
  },
})

/** Shell script: prints uid, privileges, seccomp mode, depth and ids of namespaces, and command of each process of a pod. */
export const processes = `for each in /proc/[0-9]*; do
  awk '/^(Uid|Seccomp|CapEff|NoNewPrivs):/ { printf "%s%s ", $1, $2 } /^NSpid:/ { printf "depth:%d ", NF - 1 }' $each/status
  readlink $each/ns/net $each/ns/user | tr '\\n' ' '
  tr '\\0' ' ' <$each/cmdline | cut -c 1-300
done`

/** Runs a shell command in a pod's first container and returns its output, even if it fails. */
export const inPod = async (
  { kubectl }: Pick<NodeCluster, 'kubectl'>,
  pod: string,
  command: string,
  namespace = 'default',
): Promise<string> => kubectl(['exec', `--namespace=${namespace}`, pod, '--', 'sh', '-c', `(${command}) 2>&1; true`])
