import { type ControllerDeps, type Controller, startController, targetOf } from './controller.ts'
import { at, type Stored, timeText, type JsonObject } from './object.ts'
import { type Condition, hasEnded, holds, phaseOf, withCondition } from './pods.ts'

/** A running container. */
export type Container = {
  /** SIGTERM: the container exits once its work is done. */
  readonly stop: () => void
  /** SIGKILL. */
  readonly kill: () => void
}

/** Callbacks of a container. */
export type ContainerEvents = {
  readonly ready: (isReady: boolean) => void
  /** Called once. */
  readonly exited: (code: number) => void
}

/** Container runtime and scheduler of the simulated nodes. */
export type Runtime = {
  readonly start: (pod: Stored, events: ContainerEvents) => Container
  /** Milliseconds from the binding of a pod to the start of its container. */
  readonly startMs: () => number
  /** The node with room for a pod in addition to the bound pods; undefined if there is none. */
  readonly place: (pod: Stored, beside: readonly Stored[]) => string | undefined
  /** Kubernetes' reason why a pod's container cannot start: `ImagePullBackOff`, `CreateContainerConfigError`. */
  readonly trouble: (pod: Stored) => string | undefined
}

type State = 'pulling' | 'running' | 'waiting' | 'ended'

/** A node's local state of a pod, independent of the server. */
type Local = {
  readonly pod: Stored
  state: State
  container: Container | undefined
  isReady: boolean
  isStopping: boolean
  restarts: number
  exitCode: number
  waitingReason: string
  startedAt: string
}

const backOffMs = [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000]
const troubleMs = 5000
/** Exit code that a node reports for a missing container, and for one that never ran. */
const lostExitCode = 137
/** kube-controller-manager's times from the last heartbeat of a node until its pods are marked not ready, and evicted. */
const notReadyMs = 50_000
const evictedMs = notReadyMs + 300_000

const newLocal = (pod: Stored): Local => ({
  pod,
  state: 'pulling',
  container: undefined,
  isReady: false,
  isStopping: false,
  restarts: 0,
  exitCode: lostExitCode,
  waitingReason: 'ContainerCreating',
  startedAt: '',
})

/** The kubelets of all nodes: start and stop containers, and report their status while the server is reachable. */
export class ModelKubelet {
  readonly #deps: ControllerDeps
  readonly #runtime: Runtime
  readonly #locals = new Map<string, Local>()
  readonly #controller: Controller
  /** Pods whose node no longer reports them, for example because it is cut off. */
  readonly #lost = new Set<string>()
  /** Dead nodes. */
  readonly #dead = new Set<string>()

  constructor(deps: ControllerDeps, runtime: Runtime) {
    this.#deps = deps
    this.#runtime = runtime
    this.#controller = startController(deps, { resource: 'v1/pods', sync: (key, pod) => this.#sync(key, pod) })
  }

  /** Synchronizes all pods, as after an outage of the server. */
  enqueueAll(): void {
    this.#controller.enqueueAll()
    for (const key of this.#locals.keys()) this.#controller.enqueue(key)
  }

  /** Cuts the node of a pod off from the server, or reconnects it. */
  setLost(key: string, isLost: boolean): void {
    if (isLost) this.#lost.add(key)
    else this.#lost.delete(key)
    this.#controller.enqueue(key)
  }

  /**
   * Kills a node with everything on it. As on a real cluster, the API shows nothing at first: later its pods are marked not
   * ready (only their condition `Ready`), and minutes later evicted, which the node does not receive.
   */
  loseNode(node: string): void {
    const { server, clock } = this.#deps
    this.#dead.add(node)
    for (const [key, local] of this.#locals) {
      if (at(server.store.get('v1/pods', key), 'spec', 'nodeName') === node) local.container?.kill()
    }
    const onNode = () => server.store.all('v1/pods').filter((pod) => at(pod, 'spec', 'nodeName') === node)
    clock.after(notReadyMs, () => {
      const time = timeText(clock.date())
      for (const pod of onNode()) {
        if (!holds(pod, 'Ready')) continue
        this.#editStatus(pod, (live) => ({ conditions: withCondition(live, { type: 'Ready', status: 'False' }, time) }))
      }
    })
    clock.after(evictedMs, () => {
      for (const pod of onNode()) if (!hasEnded(pod)) server.remove(targetOf(server, pod), {})
    })
  }

  /** Evicts a pod as under memory pressure: its containers are killed, and the pod stays as Failed. */
  evict(key: string): void {
    const { server, clock } = this.#deps
    const pod = server.store.get('v1/pods', key)
    const local = this.#locals.get(key)
    if (!pod || !local) return
    local.isStopping = true
    local.container?.kill()
    this.#locals.delete(key)
    const disrupted = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' }
    server.edit(targetOf(server, pod, 'status'), (live) => {
      const conditions = withCondition(live, disrupted, timeText(clock.date()))
      return { ...live, status: { ...(live['status'] as JsonObject), phase: 'Failed', reason: 'Evicted', conditions } }
    })
  }

  #sync(key: string, pod: Stored | undefined): number | undefined {
    if (this.#lost.has(key) || this.#isOnDead(pod)) return undefined
    const local = this.#locals.get(key)
    if (local && local.pod.metadata.uid !== pod?.metadata.uid) {
      this.#abandon(key, local)
      return pod && this.#sync(key, pod)
    }
    if (!pod) return undefined
    if (at(pod, 'spec', 'nodeName') === undefined) return this.#schedule(pod)
    if (pod.metadata.deletionTimestamp !== undefined) return this.#terminate(key, pod, local)
    if (hasEnded(pod)) return undefined
    if (!local) return this.#admit(key, pod)
    this.#report(local)
    return undefined
  }

  #isOnDead(pod: Stored | undefined): boolean {
    return this.#dead.has(String(at(pod, 'spec', 'nodeName')))
  }

  #schedule(pod: Stored): number | undefined {
    const { server, clock } = this.#deps
    if (pod.metadata.deletionTimestamp !== undefined) return undefined
    const bound = server.store.all('v1/pods').filter((each) => at(each, 'spec', 'nodeName') && !hasEnded(each))
    const time = timeText(clock.date())
    const nodeName = this.#runtime.place(pod, bound)
    if (nodeName === undefined) {
      const message = '0/1 nodes are available: 1 Too many pods.'
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }
      this.#editStatus(pod, (live) => ({ conditions: withCondition(live, condition, time) }))
      return troubleMs
    }
    server.edit(targetOf(server, pod), (live) => ({ ...live, spec: { ...(live['spec'] as JsonObject), nodeName } }))
    this.#editStatus(pod, (live) => ({
      conditions: withCondition(live, { type: 'PodScheduled', status: 'True' }, time),
    }))
    return undefined
  }

  #admit(key: string, pod: Stored): undefined {
    const local = newLocal(pod)
    this.#locals.set(key, local)
    // Its status is Running, but no container exists here: only restartPolicy Always starts it again.
    if (phaseOf(pod) === 'Running' && at(pod, 'spec', 'restartPolicy') !== 'Always')
      this.#exited(key, local, lostExitCode)
    else this.#deps.clock.after(this.#runtime.startMs(), () => this.#start(key, local))
  }

  #start(key: string, local: Local) {
    const { clock, server } = this.#deps
    if (this.#locals.get(key) !== local || local.isStopping) return
    if (this.#isOnDead(server.store.get('v1/pods', key))) return
    const trouble = this.#runtime.trouble(local.pod)
    if (trouble !== undefined) {
      local.waitingReason = trouble
      clock.after(troubleMs, () => this.#start(key, local))
    } else {
      local.state = 'running'
      local.startedAt = timeText(clock.date())
      local.container = this.#runtime.start(local.pod, {
        ready: (isReady) => {
          local.isReady = isReady
          this.#controller.enqueue(key)
        },
        exited: (code) => this.#exited(key, local, code),
      })
    }
    this.#controller.enqueue(key)
  }

  #exited(key: string, local: Local, code: number) {
    Object.assign(local, { container: undefined, isReady: false, exitCode: code, state: 'ended' })
    this.#controller.enqueue(key)
    if (local.isStopping || at(local.pod, 'spec', 'restartPolicy') !== 'Always') return
    Object.assign(local, { state: 'waiting', waitingReason: 'CrashLoopBackOff' })
    const waitMs = backOffMs[Math.min(local.restarts, backOffMs.length - 1)] ?? 0
    local.restarts += 1
    this.#deps.clock.after(waitMs, () => this.#start(key, local))
  }

  #terminate(key: string, pod: Stored, known: Local | undefined): number | undefined {
    const { server } = this.#deps
    // A pod that is deleted before its node has seen it ends as Failed too, or its finalizer would keep it forever.
    const local = known ?? (hasEnded(pod) ? undefined : newLocal(pod))
    if (local && !local.isStopping) this.#stop(local, pod.metadata.deletionGracePeriodSeconds ?? 0)
    if (local?.container) {
      this.#report(local)
      return undefined
    }
    if (local) {
      local.state = 'ended'
      this.#report(local)
      this.#locals.delete(key)
    }
    server.remove(targetOf(server, pod), { uid: pod.metadata.uid, graceSeconds: 0 })
    return undefined
  }

  /** Stops the containers of a pod that no longer exists on the server. */
  #abandon(key: string, local: Local) {
    this.#locals.delete(key)
    const grace =
      local.pod.metadata.deletionGracePeriodSeconds ?? at(local.pod, 'spec', 'terminationGracePeriodSeconds')
    if (!local.isStopping) this.#stop(local, Number(grace ?? 30))
  }

  #stop(local: Local, graceSeconds: number) {
    local.isStopping = true
    local.container?.stop()
    if (local.container) this.#deps.clock.after(graceSeconds * 1000, () => local.container?.kill())
  }

  #report(local: Local) {
    const time = timeText(this.#deps.clock.date())
    const isAlways = at(local.pod, 'spec', 'restartPolicy') === 'Always'
    const status = local.isReady ? 'True' : 'False'
    const ready = (live: Stored): Condition[] => {
      const conditions = withCondition(live, { type: 'ContainersReady', status }, time)
      return withCondition({ ...live, status: { conditions } }, { type: 'Ready', status }, time)
    }
    this.#editStatus(local.pod, (live) => ({
      phase: phaseOfLocal(local, isAlways && !local.isStopping),
      conditions: ready(live),
      containerStatuses: [containerStatus(local)],
    }))
  }

  #editStatus(pod: Stored, change: (live: Stored) => JsonObject) {
    const { server } = this.#deps
    server.edit(targetOf(server, pod, 'status'), (live) => {
      if (live.metadata.uid !== pod.metadata.uid) return live
      return { ...live, status: { ...(live['status'] as JsonObject), ...change(live) } }
    })
  }
}

const phaseOfLocal = ({ state, exitCode, restarts }: Local, restartsAlways: boolean): string => {
  if (state === 'running') return 'Running'
  if (state === 'ended' && !restartsAlways) return exitCode === 0 ? 'Succeeded' : 'Failed'
  return state === 'waiting' || restarts > 0 ? 'Running' : 'Pending'
}

const containerStatus = ({ pod, state, isReady, restarts, exitCode, waitingReason, startedAt }: Local): JsonObject => {
  const [container] = (at(pod, 'spec', 'containers') as JsonObject[] | undefined) ?? []
  const ended = { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' } }
  const shown = {
    running: { running: { startedAt } },
    ended,
    pulling: waiting(waitingReason),
    waiting: waiting(waitingReason),
  }
  return {
    name: container?.['name'] ?? '',
    ready: isReady,
    started: state === 'running',
    restartCount: restarts,
    state: shown[state],
    ...(restarts > 0 && { lastState: ended }),
  }
}

const waiting = (reason: string) => ({ waiting: { reason } })
