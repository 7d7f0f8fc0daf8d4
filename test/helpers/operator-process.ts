import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { prefix } from '#shared/config/read-env.ts'
import type { TestCluster } from './cluster.ts'
import { testProgramPath } from './test-program-path.ts'
import { nodeEnv } from './node-env.ts'
import { endWithParent } from './cluster-processes.ts'
import type { ClusterQueue } from './cluster-queue.ts'

const program = testProgramPath('controller/main-operator')
const skewedClock = resolve(import.meta.dirname, '../fixtures/skewed-clock.ts')
const logCharsMax = 4_000_000

/** Options of `startOperator`. */
export type OperatorOptions = {
  readonly cluster: Pick<TestCluster, 'controllerKubeconfig'>
  readonly queue: Pick<ClusterQueue, 'urlOf'>
  /** A kubeconfig, such as one with a proxy as the server, instead of the cluster's. */
  readonly kubeconfig?: string
  /** Name in the Lease; `one` by default. */
  readonly name?: string
  /** Settings in addition to those for quick tests, named without prefix. */
  readonly settings?: Readonly<Record<string, string>>
  /** Milliseconds by which its wall clock is ahead; 0 by default. */
  readonly skewMs?: number
}

/** The controller on Kubernetes, in a separate process. Dispose kills it. */
export type OperatorProcess = AsyncDisposable & {
  readonly name: string
  readonly child: ChildProcess
  readonly probeUrl: string
  /** Its output so far, bounded; a line of JSON for each event. */
  readonly log: () => string
  /** The response of `/readyz`. */
  readonly health: () => Promise<{ ready: boolean; live: boolean; detail: Record<string, string> }>
  /** The response of `/metrics`. */
  readonly metrics: () => Promise<string>
  /** Suspends it, its connections open, until `thaw`. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Kills it as in a crash. */
  readonly kill: () => Promise<void>
  /** Stops it gracefully, also if it is frozen; returns its exit code. */
  readonly stop: () => Promise<number | null>
}

/** Settings for quick tests: a Lease of 3 s, one namespace, workers schedulable on any node, no waiting for nodes. */
const quickly = {
  POOLS_NAMESPACE: 'default',
  CONTROLLER_LEASE_SECONDS: '3',
  POD_IMAGE: 'none',
  POD_EGRESS: '127.0.0.1:3128',
  POD_ISOLATION: 'flags-only',
  NODE_PROVISION_SECONDS: '0',
}

/**
 * Starts the operator as the controller's user, to which Roles must be bound already, and waits until it has announced
 * itself. Rejects with its output if it exits before that.
 */
export const startOperator = async (options: OperatorOptions): Promise<OperatorProcess> => {
  const { cluster, queue, kubeconfig = cluster.controllerKubeconfig, name = 'one', skewMs } = options
  const settings = {
    ...quickly,
    KUBECONFIG: kubeconfig,
    NATS_URL: queue.urlOf('controller'),
    CONTROLLER_POD: name,
    ...options.settings,
  }
  const env: Record<string, string | undefined> = { ...nodeEnv }
  for (const [key, value] of Object.entries(settings)) env[prefix + key] = value
  if (skewMs !== undefined) Object.assign(env, { NODE_OPTIONS: `--import=${skewedClock}`, SKEW_MS: String(skewMs) })
  const child = spawn('setpriv', [...endWithParent, process.execPath, program], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-logCharsMax)
    })
  const closed = once(child, 'close')
  const announced = once(child, 'message') as Promise<[{ probeUrl: string }]>
  const first = await Promise.race([announced, closed])
  if (child.exitCode !== null) throw new Error(`the operator ended with ${child.exitCode}: ${log}`)
  const { probeUrl } = first[0] as { probeUrl: string }

  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await closed
    return child.exitCode
  }
  const kill = async () => void (await end('SIGKILL'))
  return {
    name,
    child,
    probeUrl,
    log: () => log,
    health: async () =>
      (await (await fetch(`${probeUrl}/readyz`)).json()) as Awaited<ReturnType<OperatorProcess['health']>>,
    metrics: async () => (await fetch(`${probeUrl}/metrics`)).text(),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    kill,
    stop: () => {
      child.kill('SIGCONT')
      return end('SIGTERM')
    },
    [Symbol.asyncDispose]: kill,
  }
}
