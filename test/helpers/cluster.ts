import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { get as httpsGet } from 'node:https'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { writeCredentials } from './cluster-credentials.ts'
import {
  argumentsOf,
  clusterFiles,
  type ClusterPlace,
  type Component,
  components,
  etcdUrl,
  serverUrl,
} from './cluster-programs.ts'
import { eventually } from './eventually.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const programs = join(root, '.tools/test-cluster')
const startMs = 60_000
const kubectlMs = 60_000
const answerMs = 2000
const outputBytesMax = 16_000_000
const logTailChars = 2000
/** The kernel ends a process with the test that started it. */
const endWithParent = ['--pdeathsig', 'KILL'] as const

/** A Kubernetes control plane of one test file, with fake nodes on which every pod runs and every Job succeeds. */
export type TestCluster = AsyncDisposable & {
  /** Path of a kubeconfig that may do everything. */
  readonly kubeconfig: string
  /** Address of kube-apiserver; stays the same over `kill` and `start`. */
  readonly server: string
  /** Runs kubectl for at most a minute and answers what it printed; rejects with what it said where it fails. */
  readonly kubectl: (args: readonly string[], input?: string) => Promise<string>
  /** What `kubectl get` finds, parsed. */
  readonly get: <T>(...args: readonly string[]) => Promise<T>
  /** Applies a manifest, server-side: an object, or the text of a YAML file. */
  readonly apply: (manifest: string | object) => Promise<void>
  /** As `apply` for CustomResourceDefinitions; resolves once the API serves them. */
  readonly applyCrd: (manifest: string | object) => Promise<void>
  /** Ends a component as a crash would. */
  readonly kill: (component: Component) => Promise<void>
  /** Starts a component that was killed, on what it left; resolves once it answers. */
  readonly start: (component: Component) => Promise<void>
  /** Copies what etcd holds, for which it is down for a moment; answers what `restore` takes. */
  readonly snapshot: () => Promise<string>
  /** Puts etcd back to a snapshot and starts kube-apiserver afresh. Everybody else has seen newer versions by then. */
  readonly restore: (snapshot: string) => Promise<void>
  /** Ends everything and removes the folder. Calling it twice is harmless. */
  readonly stop: () => Promise<void>
}

/** What a cluster consists of besides etcd and kube-apiserver. */
export type ClusterOptions = {
  /** Fake nodes, with room for 110 pods each; 1 by default. */
  readonly nodes?: number
  /** Whether controllers run; without them no Job or Deployment makes pods, and namespaces have no service account. */
  readonly controllerManager?: boolean
  /** Whether there are nodes, and a scheduler for them; needs the controllers. */
  readonly kwok?: boolean
  /** From the binding of a pod to its readiness; 100 by default. */
  readonly kwokPodReadyMs?: number
}

/** What a test framework offers to clean up with; tap's `t` is one. */
type WithTeardown = { teardown: (clean: () => Promise<void>) => void }

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const end = async (child: ChildProcess | undefined) => {
  if (!child || hasEnded(child)) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/**
 * A folder that is removed when `removed` is called, or else when this process ends, however it ends: who removes it
 * waits for the end of a pipe. The second try is for files of programs that were still ending at the first.
 */
const temporaryFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cluster-'))
  const script = 'cat; rm -rf "$1" || { sleep 1; rm -rf "$1"; }'
  const keeper = spawn('sh', ['-c', script, 'sh', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  await once(keeper, 'spawn')
  const removed = async () => {
    if (hasEnded(keeper)) return
    keeper.stdin.end()
    await once(keeper, 'exit')
  }
  return { folder, removed }
}

/** Addresses are drawn from 127.0.0.0/8, so clusters beside each other have the same ports and never meet. */
const drawAddress = () => ['127', ...Array.from({ length: 3 }, () => randomInt(1, 255))].join('.')

const launch = async (place: ClusterPlace, component: Component): Promise<ChildProcess> => {
  const log = await open(clusterFiles(place).log(component), 'a')
  try {
    const command = [...endWithParent, join(programs, component), ...argumentsOf(component, place)]
    const child = spawn('setpriv', command, {
      stdio: ['ignore', log.fd, log.fd],
      cwd: place.folder,
      env: { PATH: process.env['PATH'], HOME: place.folder },
    })
    await once(child, 'spawn')
    return child
  } finally {
    await log.close()
  }
}

/** Whether kube-apiserver answers a GET of admin with 200. */
const serves = async (place: ClusterPlace, token: string, path: string): Promise<boolean> => {
  const ca = await readFile(clusterFiles(place).authority)
  const options = { ca, headers: { authorization: `Bearer ${token}` }, agent: false, timeout: answerMs }
  const request = httpsGet(serverUrl(place) + path, options)
  request.on('timeout', () => request.destroy())
  const [response] = await once(request, 'response')
  response.resume()
  return response.statusCode === 200
}

const isReady = async (place: ClusterPlace, token: string, component: Component): Promise<boolean> => {
  switch (component) {
    case 'etcd':
      return (await fetch(`${etcdUrl(place)}/health`, { signal: AbortSignal.timeout(answerMs) })).ok
    case 'kube-apiserver':
      return serves(place, token, '/readyz')
    case 'kube-controller-manager':
      return serves(place, token, '/api/v1/namespaces/default/serviceaccounts/default')
    case 'kube-scheduler':
    case 'kwok':
      // What they do is seen at pods and nodes.
      return true
  }
}

const kubectlOf =
  (place: ClusterPlace) =>
  async (args: readonly string[], input = ''): Promise<string> => {
    const running = run('setpriv', [...endWithParent, join(programs, 'kubectl'), ...args], {
      timeout: kubectlMs,
      maxBuffer: outputBytesMax,
      env: {
        PATH: process.env['PATH'],
        HOME: place.folder,
        KUBECONFIG: clusterFiles(place).kubeconfig('admin'),
        KUBECACHEDIR: join(place.folder, 'kubectl-cache'),
      },
    })
    // A kubectl that fails early does not read all of it; its exit says why.
    running.child.stdin?.on('error', () => {}).end(input)
    return (await running).stdout
  }

const fakeNode = (index: number) => {
  const room = { cpu: '32', memory: '256Gi', pods: '110' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: `fake-${index}`,
      labels: {
        'kubernetes.io/hostname': `fake-${index}`,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
      },
    },
    status: { allocatable: room, capacity: room },
  }
}

const prepare = async (place: ClusterPlace, podReadyMs: number): Promise<string> => {
  const stages = await readFile(join(root, 'k8s/test-cluster/stages.yaml'), 'utf8')
  await writeFile(clusterFiles(place).stages, stages.replaceAll('POD_READY_MS', String(podReadyMs)))
  return writeCredentials(place)
}

/** The components of a cluster as processes. */
const processesOf = (place: ClusterPlace, token: string) => {
  const running = new Map<Component, ChildProcess>()
  const kill = async (component: Component) => end(running.get(component))
  const untilReady = async (component: Component) => {
    const child = running.get(component)
    try {
      await eventually(async () => !child || hasEnded(child) || (await isReady(place, token, component)), {
        withinMs: startMs,
        what: `${component} answers`,
      })
      if (!child || hasEnded(child)) throw new Error(`${component} ended`)
    } catch (cause) {
      const log = await readFile(clusterFiles(place).log(component), 'utf8').catch(() => 'it wrote no log')
      throw new Error(`${component} did not start: ${log.slice(-logTailChars)}`, { cause })
    }
  }
  const start = async (component: Component) => {
    await kill(component)
    running.set(component, await launch(place, component))
    await untilReady(component)
  }
  const killAll = () => Promise.all(components.map(kill))
  return { kill, killAll, start, untilReady }
}

/** How etcd is set back to what it held before. */
const historyOf = (place: ClusterPlace, { kill, start, untilReady }: ReturnType<typeof processesOf>) => {
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

/** What tests do to the API, on top of kubectl. */
const clientOf = (place: ClusterPlace) => {
  const kubectl = kubectlOf(place)
  const apply = async (manifest: string | object) => {
    const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest)
    await kubectl(['apply', '--server-side', '-f', '-'], text)
  }
  return {
    kubectl,
    apply,
    get: async <T>(...args: readonly string[]) => JSON.parse(await kubectl(['get', ...args, '-o', 'json'])) as T,
    applyCrd: async (manifest: string | object) => {
      await apply(manifest)
      await kubectl(['wait', 'crd', '--all', '--for=condition=Established', '--timeout=30s'])
    },
  }
}

/**
 * Starts a control plane in a folder and on an address of its own, and resolves once its nodes are Ready. Stopped at the
 * test's end where `t` is given, else by the caller. Needs what scripts/build-test-cluster.sh builds.
 */
export const startCluster = async (t?: WithTeardown, options: ClusterOptions = {}): Promise<TestCluster> => {
  if (!existsSync(programs)) throw new Error('no control plane to test on: run scripts/build-test-cluster.sh')
  const { nodes = 1, controllerManager = true, kwok = true, kwokPodReadyMs = 100 } = options
  const { folder, removed } = await temporaryFolder()
  const place = { folder, address: drawAddress() }
  const processes = processesOf(place, await prepare(place, kwokPodReadyMs))
  const client = clientOf(place)
  const stop = async () => {
    await processes.killAll()
    await removed()
  }
  t?.teardown(stop)

  const addNodes = async () => {
    const items = Array.from({ length: nodes }, (_, index) => fakeNode(index + 1))
    if (items.length === 0) return
    await client.apply({ apiVersion: 'v1', kind: 'List', items })
    await client.kubectl(['wait', 'node', '--all', '--for=condition=Ready', '--timeout=30s'])
  }
  try {
    await processes.start('etcd')
    await processes.start('kube-apiserver')
    await Promise.all([
      controllerManager && processes.start('kube-controller-manager'),
      kwok && processes.start('kube-scheduler'),
      kwok && processes.start('kwok').then(addNodes),
    ])
  } catch (error) {
    await stop()
    throw error
  }
  return {
    kubeconfig: clusterFiles(place).kubeconfig('admin'),
    server: serverUrl(place),
    ...client,
    ...historyOf(place, processes),
    kill: processes.kill,
    start: processes.start,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
