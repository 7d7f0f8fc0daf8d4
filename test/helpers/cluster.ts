import { execFile, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { writeCredentials } from './cluster-credentials.ts'
import { type ClusterProcesses, endWithParent, processesOf, programs } from './cluster-processes.ts'
import { clusterFiles, type ClusterPlace, type Component, controllerUser, serverUrl } from './cluster-programs.ts'
import type { NodeNetwork } from './nodes/network.ts'
import { type ControllerRequest, controllerRequests, writeUsedVerbs, writeAuditPolicy } from './cluster-verbs.ts'

const run = promisify(execFile)
const stages = resolve(import.meta.dirname, '../../k8s/test-cluster/stages.yaml')
const kubectlMs = 60_000
const outputBytesMax = 16_000_000

/** A Kubernetes control plane of one test file, with fake nodes on which every pod runs and every Job succeeds. */
export type TestCluster = AsyncDisposable & {
  readonly place: ClusterPlace
  /** Path of a kubeconfig with all permissions. */
  readonly kubeconfig: string
  /** Path of the controller's kubeconfig; its permissions are those of the Roles bound to it. */
  readonly controllerKubeconfig: string
  /** URL of kube-apiserver; survives `kill` and `start`. */
  readonly server: string
  /** Runs kubectl for at most a minute and returns its stdout; rejects with its stderr if it fails. */
  readonly kubectl: (args: readonly string[], input?: string) => Promise<string>
  /** The parsed JSON of `kubectl get`. */
  readonly get: <T>(...args: readonly string[]) => Promise<T>
  /** Applies a manifest, server-side: an object, or the text of a YAML file. */
  readonly apply: (manifest: string | object) => Promise<void>
  /** Like `apply`, for CustomResourceDefinitions; resolves once the API serves them. */
  readonly applyCrd: (manifest: string | object) => Promise<void>
  /** See `ClusterOptions`. */
  readonly kwokSimulatesWorkers: boolean
  /** All requests of the controller so far, in the order of their responses. */
  readonly requests: () => Promise<readonly ControllerRequest[]>
  /** Creates a namespace that is ready for pods. */
  readonly addNamespace: (name: string) => Promise<void>
  /** Kills a component as in a crash. */
  readonly kill: (component: Component) => Promise<void>
  /** Suspends a component, its connections open, until `thaw`. */
  readonly freeze: (component: Component) => void
  readonly thaw: (component: Component) => void
  /** Restarts a killed component on its old data; resolves once it responds. */
  readonly start: (component: Component) => Promise<void>
  /** Copies the data of etcd, which is down for a moment meanwhile; returns the argument of `restore`. */
  readonly snapshot: () => Promise<string>
  /** Resets etcd to a snapshot and restarts kube-apiserver. All other clients have seen newer resource versions by then. */
  readonly restore: (snapshot: string) => Promise<void>
  /** Stops all components and removes the folder. Idempotent. */
  readonly stop: () => Promise<void>
}

/** What a cluster consists of besides etcd and kube-apiserver. */
export type ClusterOptions = {
  /** Number of nodes, with room for 110 pods each; 1 by default. Fake nodes, unless `network` is set. */
  readonly nodes?: number
  /** Network on which real nodes reach this control plane; without it, it is on loopback and kwok simulates the nodes. */
  readonly network?: NodeNetwork
  /** Whether controllers run; without them no Job or Deployment makes pods, and namespaces have no service account. */
  readonly controllerManager?: boolean
  /** Whether there are nodes, and a scheduler for them; needs the controllers. */
  readonly kwok?: boolean
  /** Milliseconds from the binding of a pod to its readiness; 100 by default. */
  readonly kwokPodReadyMs?: number
  /** Whether kwok runs and ends workers' pods too, as by default; otherwise a test has to simulate these. */
  readonly kwokSimulatesWorkers?: boolean
}

/** A test with cleanup functions, such as tap's `t`. */
export type WithTeardown = { teardown: (clean: () => Promise<void>) => void }

/**
 * Starts a control plane in a new folder and on a separate address, and resolves once its nodes are Ready. Stopped at the
 * test's end if `t` is given, else by the caller. Needs what scripts/build-test-cluster.sh builds.
 */
export const startCluster = async (t?: WithTeardown, options: ClusterOptions = {}): Promise<TestCluster> => {
  if (!existsSync(programs)) throw new Error('test cluster not built: run scripts/build-test-cluster.sh')
  const { folder, removed } = await temporaryFolder()
  const { network, nodes = 1 } = options
  const token = randomBytes(16).toString('hex')
  const place = { folder, address: network?.address ?? drawAddress(), token, ...(network && { network, nodes }) }
  const processes = processesOf(place)
  const client = clientOf(place)
  const stop = async () => {
    await processes.killAll()
    await writeUsedVerbs(place, process.env['CONTROLLER_VERBS_FOLDER'])
    await removed()
  }
  t?.teardown(stop)
  try {
    await startAll(place, processes, options)
    await addNodes(client, options)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    place,
    kubeconfig: clusterFiles(place).kubeconfig('admin'),
    controllerKubeconfig: clusterFiles(place).kubeconfig(controllerUser),
    server: serverUrl(place),
    kwokSimulatesWorkers: options.kwokSimulatesWorkers ?? true,
    requests: () => controllerRequests(place),
    ...client,
    ...historyOf(place, processes),
    kill: processes.kill,
    freeze: processes.freeze,
    thaw: processes.thaw,
    start: processes.start,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/**
 * A folder that is removed when `removed` is called, or when this process ends for any reason: the removing process
 * waits for the end of a pipe. It removes twice, because programs that are still ending may write files meanwhile.
 */
const temporaryFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cluster-'))
  const script = 'cat; rm -rf "$1" || { sleep 1; rm -rf "$1"; }'
  const remover = spawn('sh', ['-c', script, 'sh', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  await once(remover, 'spawn')
  const removed = async () => {
    if (remover.exitCode !== null) return
    remover.stdin.end()
    await once(remover, 'exit')
  }
  return { folder, removed }
}

/** An address of 127.0.0.0/8, so that concurrent clusters use the same ports without conflict. */
const drawAddress = () => ['127', ...Array.from({ length: 3 }, () => randomInt(1, 255))].join('.')

const startAll = async (place: ClusterPlace, { start }: ClusterProcesses, options: ClusterOptions) => {
  const { controllerManager = true, kwok = true } = options
  await writeCredentials(place)
  await writeAuditPolicy(place)
  await writeStages(place, options)

  await start('etcd')
  await start('kube-apiserver')
  await Promise.all([
    controllerManager && start('kube-controller-manager'),
    kwok && start('kube-scheduler'),
    kwok && !options.network && start('kwok'),
  ])
}

const writeStages = async (
  place: ClusterPlace,
  { kwokPodReadyMs = 100, kwokSimulatesWorkers = true }: ClusterOptions,
) => {
  const text = (await readFile(stages, 'utf8'))
    .replaceAll('POD_READY_MS', String(kwokPodReadyMs))
    .replaceAll('IGNORED_COMPONENT', kwokSimulatesWorkers ? 'none' : 'worker')
  await writeFile(clusterFiles(place).stages, text)
}

const addNodes = async ({ apply, kubectl }: Client, { kwok = true, nodes = 1, network }: ClusterOptions) => {
  if (!kwok || nodes === 0 || network) return
  await apply({
    apiVersion: 'v1',
    kind: 'List',
    items: Array.from({ length: nodes }, (_, index) => fakeNode(index + 1)),
  })
  await kubectl(['wait', 'node', '--all', '--for=condition=Ready', '--timeout=30s'])
}

const fakeNode = (index: number) => {
  const name = `fake-${index}`
  const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' }
  const room = { cpu: '32', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: '110' }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, status: { allocatable: room, capacity: room } }
}

type Client = Pick<TestCluster, 'kubectl' | 'get' | 'apply' | 'applyCrd' | 'addNamespace'>

const clientOf = (place: ClusterPlace): Client => {
  const kubectl: Client['kubectl'] = async (args, input = '') => {
    const running = run('setpriv', [...endWithParent, join(programs, 'kubectl'), ...args], {
      timeout: kubectlMs,
      maxBuffer: outputBytesMax,
      env: {
        PATH: process.env['PATH'],
        HOME: place.folder,
        KUBECONFIG: clusterFiles(place).kubeconfig('admin'),
        // As in `helm`.
        GOGC: 'off',
        KUBECACHEDIR: join(place.folder, 'kubectl-cache'),
      },
    })
    // A kubectl that fails early does not read its input; its exit code and stderr give the reason.
    running.child.stdin?.on('error', () => {}).end(input)
    return (await running).stdout
  }
  const apply: Client['apply'] = async (manifest) => {
    const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest)
    await kubectl(['apply', '--server-side', '-f', '-'], text)
  }
  return {
    kubectl,
    get: async <T>(...args: readonly string[]) => JSON.parse(await kubectl(['get', ...args, '-o', 'json'])) as T,
    apply,
    applyCrd: async (manifest) => {
      await apply(manifest)
      await kubectl(['wait', 'crd', '--all', '--for=condition=Established', '--timeout=30s'])
    },
    addNamespace: async (name) => {
      await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      await kubectl(['wait', 'serviceaccount/default', '-n', name, '--for=create', '--timeout=30s'])
    },
  }
}

/** Snapshots of etcd. */
const historyOf = (place: ClusterPlace, { kill, start, untilReady }: ClusterProcesses) => {
  const { etcd } = clusterFiles(place)
  let taken = 0
  return {
    snapshot: async () => {
      taken += 1
      const copy = join(place.folder, `snapshot-${taken}`)
      await kill('etcd')
      await cp(etcd, copy, { recursive: true })
      await start('etcd')
      await untilReady('kube-apiserver')
      return copy
    },
    restore: async (snapshot: string) => {
      await kill('kube-apiserver')
      await kill('etcd')
      await rm(etcd, { recursive: true })
      await cp(snapshot, etcd, { recursive: true })
      await start('etcd')
      await start('kube-apiserver')
    },
  }
}
