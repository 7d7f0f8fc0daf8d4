import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { prefix } from '#shared/config/read-env.ts'
import { chromiumPath } from './bare-browser.ts'
import { endWithParent } from './cluster-processes.ts'
import type { TestCluster } from './cluster.ts'
import type { Program } from './pod-state.ts'
import { FakeKubelet } from './fake-kubelet.ts'
import { testProgramPath } from './test-program-path.ts'
import { environmentOf, type PodObject } from './worker-pod-object.ts'

const root = resolve(import.meta.dirname, '../..')
const probeMs = 500
const logCharsMax = 200_000
const killedCode = 137

/** Options of `startPodWorkers`. */
export type PodWorkersOptions = {
  readonly cluster: Pick<TestCluster, 'kubeconfig' | 'kwokSimulatesWorkers' | 'get'>
  /** Overrides of a pod's settings for this machine, named without prefix. */
  readonly settings?: Readonly<Record<string, string>>
}

/** The real workers of all pods, each a local process. Dispose kills them; their pods stay as they are. */
export type PodWorkers = AsyncDisposable & {
  /** The process of a pod, once it is started. */
  readonly processOf: (pod: string) => ChildProcess | undefined
  /** The output of a pod's worker so far, bounded. */
  readonly logOf: (pod: string) => string
}

/**
 * Runs the program of each worker's pod, with the environment and the Secrets of the pod, and manages it as
 * a kubelet would. The cluster must have been started with `kwokSimulatesWorkers: false`.
 */
export const startPodWorkers = async (options: PodWorkersOptions): Promise<PodWorkers> => {
  const folder = await mkdtemp(join(tmpdir(), 'pods-'))
  // The browsers' user has to traverse the folder.
  await chmod(folder, 0o711)
  const processes = new Map<string, ChildProcess>()
  const logs = new Map<string, string>()

  const start = async (pod: PodObject): Promise<ChildProcess> => {
    const { name } = pod.metadata
    const [program = '', ...args] = commandOf(pod)
    const own = await mkdtemp(join(folder, 'pod-'))
    await chmod(own, 0o711)
    const env = { ...(await environmentIn(options, pod, own)), PATH: process.env['PATH'], TMPDIR: own }
    const command = [...endWithParent, program === 'node' ? process.execPath : program, ...args]
    const child = spawn('setpriv', command, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => logs.set(name, ((logs.get(name) ?? '') + chunk).slice(-logCharsMax)))
    processes.set(name, child)
    return child
  }
  const kubelet = new FakeKubelet({
    cluster: options.cluster,
    run: (pod, changed) => runProcess(() => start(pod), changed),
  })
  return {
    processOf: (pod) => processes.get(pod),
    logOf: (pod) => logs.get(pod) ?? '',
    [Symbol.asyncDispose]: async () => {
      await kubelet[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The pod's command; a program of the image is that of the bundle. */
const commandOf = ({ spec }: PodObject) => {
  const args = spec.containers.find(({ name }) => name === 'worker')?.args ?? []
  return args.map((arg) => arg.replace(/^services\/(.+)\.js$/, (_, name: string) => testProgramPath(name)))
}

/** The pod's environment, with files of its Secrets in `folder`, and probes on a free port of loopback. */
const environmentIn = async ({ cluster, settings = {} }: PodWorkersOptions, pod: PodObject, folder: string) => {
  const { namespace } = pod.metadata
  const env = new Map(Object.entries(environmentOf(pod)))
  const mounts = pod.spec.containers.flatMap(({ volumeMounts = [] }) => volumeMounts)
  for (const { name, secret } of pod.spec.volumes ?? []) {
    const mount = mounts.find((each) => each.name === name)
    if (!secret || !mount) continue
    const { data } = await cluster.get<{ data: Record<string, string> }>('secret', secret.secretName, '-n', namespace)
    const here = join(folder, name)
    await mkdir(here)
    for (const [key, value] of Object.entries(data)) {
      await writeFile(join(here, key), Buffer.from(value, 'base64'), { mode: 0o600 })
    }
    for (const [variable, value] of env) {
      if (`${value}/`.startsWith(`${mount.mountPath}/`)) env.set(variable, value.replace(mount.mountPath, here))
    }
  }
  const local = { PROBE_HOST: '127.0.0.1', PROBE_PORT: '0', CHROMIUM: chromiumPath, ...settings }
  for (const [name, value] of Object.entries(local)) env.set(prefix + name, value)
  return Object.fromEntries(env)
}

/** Runs a process as a kubelet does: calls its probe twice a second once it has announced the address. */
const runProcess = (start: () => Promise<ChildProcess>, changed: () => void): Program => {
  let child: ChildProcess | undefined
  let isReady = false
  let isKilled = false
  const probe = async (url: string) => {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(probeMs) }).catch(() => undefined)
    await answer?.body?.cancel()
    const wasReady = isReady
    isReady = answer?.ok ?? false
    if (isReady !== wasReady) changed()
  }
  const run = async (): Promise<number> => {
    child = await start()
    if (isKilled) child.kill('SIGKILL')
    let timer: NodeJS.Timeout | undefined
    child.once('message', ({ probeUrl }: { probeUrl: string }) => {
      void probe(probeUrl)
      timer = setInterval(() => void probe(probeUrl), probeMs)
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    clearInterval(timer)
    isReady = false
    return code ?? killedCode
  }
  return {
    isReady: () => isReady,
    stop: () => void child?.kill('SIGTERM'),
    kill: () => {
      isKilled = true
      child?.kill('SIGKILL')
    },
    ended: run(),
  }
}
