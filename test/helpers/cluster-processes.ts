import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { get as httpsGet } from 'node:https'
import { join, resolve } from 'node:path'
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

const startMs = 60_000
const answerMs = 2000
const logTailChars = 2000

/** The folder that scripts/build-test-cluster.sh fills. */
export const programs = resolve(import.meta.dirname, '../../.tools/test-cluster')

/** Arguments of setpriv: the kernel kills a process when the test that started it ends. */
export const endWithParent = ['--pdeathsig', 'KILL'] as const

/** The components of a cluster as processes; the caller starts those that it needs. */
export type ClusterProcesses = {
  /** Kills a component as in a crash; does nothing if it is not running. */
  readonly kill: (component: Component) => Promise<void>
  readonly killAll: () => Promise<void>
  /** Suspends a component, its connections open, until `thaw`. */
  readonly freeze: (component: Component) => void
  readonly thaw: (component: Component) => void
  /** Restarts a component on its old data, killing it first if it runs; resolves once it responds, within a minute. */
  readonly start: (component: Component) => Promise<void>
  /** Resolves once a started component responds. Rejects with the end of its log if it does not. */
  readonly untilReady: (component: Component) => Promise<void>
}

/** Creates the processes of the cluster at a place, without starting them. */
export const processesOf = (place: ClusterPlace): ClusterProcesses => {
  const running = new Map<Component, ChildProcess>()

  const kill = async (component: Component) => {
    const child = running.get(component)
    if (!child || hasEnded(child)) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const untilReady = async (component: Component) => {
    const child = running.get(component)
    const ended = () => !child || hasEnded(child)
    try {
      const what = `${component} answers`
      await eventually(async () => ended() || (await isReady(place, component)), { withinMs: startMs, what })
      if (ended()) throw new Error('it has ended')
    } catch (cause) {
      const log = await readFile(clusterFiles(place).log(component), 'utf8')
      throw new Error(`${component} did not start: ${log.slice(-logTailChars)}`, { cause })
    }
  }
  return {
    kill,
    killAll: async () => void (await Promise.all(components.map(kill))),
    freeze: (component) => void running.get(component)?.kill('SIGSTOP'),
    thaw: (component) => void running.get(component)?.kill('SIGCONT'),
    start: async (component) => {
      await kill(component)
      running.set(component, await launch(place, component))
      await untilReady(component)
    },
    untilReady,
  }
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const launch = async (place: ClusterPlace, component: Component): Promise<ChildProcess> => {
  const log = await open(clusterFiles(place).log(component), 'a')
  try {
    const command = [...endWithParent, join(programs, component), ...argumentsOf(component, place)]
    const child = spawn('setpriv', command, {
      stdio: ['ignore', log.fd, log.fd],
      cwd: place.folder,
      // Most of them live for a minute: the heap may grow to five times its size before it is collected.
      env: { PATH: process.env['PATH'], HOME: place.folder, GOGC: '400' },
    })
    await once(child, 'spawn')
    return child
  } finally {
    await log.close()
  }
}

const isReady = async (place: ClusterPlace, component: Component): Promise<boolean> => {
  switch (component) {
    case 'etcd':
      return (await fetch(`${etcdUrl(place)}/health`, { signal: AbortSignal.timeout(answerMs) })).ok
    case 'kube-apiserver':
      return serves(place, '/readyz')
    case 'kube-controller-manager':
      return serves(place, '/api/v1/namespaces/default/serviceaccounts/default')
    case 'kube-scheduler':
    case 'kwok':
      // Their effects show in pods and nodes.
      return true
  }
}

/** Whether kube-apiserver responds with 200 to a GET of the tests' user. */
const serves = async (place: ClusterPlace, path: string): Promise<boolean> => {
  const ca = await readFile(clusterFiles(place).authority)
  const headers = { authorization: `Bearer ${place.token}` }
  const request = httpsGet(serverUrl(place) + path, { ca, headers, agent: false, timeout: answerMs })
  request.on('timeout', () => request.destroy())
  const [response] = await once(request, 'response')
  response.resume()
  return response.statusCode === 200
}
