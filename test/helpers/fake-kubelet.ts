import { type KubeApi, createKubeApi } from '#shared/kube/client.ts'
import { systemClock } from '#controller/kube/clock.ts'
import { type KubeConnection, openConnection } from '#shared/kube/connection.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { Change } from '#controller/kube/object-cache.ts'
import { Reflector } from '#controller/kube/reflector.ts'
import { objectKey } from '#shared/kube/resource.ts'
import type { TestCluster } from './cluster.ts'
import { isSameStatus, newPodState, now, type PodState, type Program, podStatusOf, type Waiting } from './pod-state.ts'
import { WorkQueue } from './work-queue.ts'
import { type PodObject, pods, workerSelector } from './worker-pod-object.ts'

const maxConcurrentWrites = 8

/** Behaviour of a kubelet. */
export type KubeletOptions = {
  readonly cluster: Pick<TestCluster, 'kubeconfig' | 'kwokSimulatesWorkers'>
  /** Starts the program of a pod's container, which must call `changed` when its readiness may have changed. */
  readonly run: (pod: PodObject, changed: () => void) => Program
  /** Reason why a container cannot run; re-evaluated by `recheck`. */
  readonly waitingReason?: (pod: PodObject) => Waiting | undefined
  /** Milliseconds until an exited container is restarted; 1000 by default. */
  readonly restartMs?: number
  /** Selects its pods; by default the pods of all workers. */
  readonly selector?: string
}

/**
 * Runs workers' pods that are bound to a node, and writes their statuses as kubelets do: starts, restarts and, within the
 * grace period, stops containers, then removes the pod. Starts immediately.
 */
export class FakeKubelet implements AsyncDisposable {
  readonly #options: KubeletOptions
  readonly #connection: KubeConnection
  readonly #api: KubeApi
  readonly #reflector: Reflector<PodObject>
  readonly #writes: WorkQueue
  readonly #states = new Map<string, PodState>()
  /** Running programs, including those of removed pods. */
  readonly #programs = new Set<Program>()

  constructor(options: KubeletOptions) {
    if (options.cluster.kwokSimulatesWorkers) throw new Error('start the cluster with kwokSimulatesWorkers: false')
    this.#options = options
    this.#connection = openConnection({ kubeconfig: options.cluster.kubeconfig, userAgent: 'kubelet' })
    this.#api = createKubeApi(this.#connection)
    this.#writes = new WorkQueue((key) => this.#write(key), maxConcurrentWrites)
    this.#reflector = new Reflector<PodObject>(
      {
        api: this.#api,
        clock: systemClock,
        random: Math.random,
        changed: (change) => this.#onChange(change),
        events: { listed: () => {}, ended: () => {} },
      },
      { resource: pods, labelSelector: options.selector ?? workerSelector, backOff: { firstMs: 50, lastMs: 500 } },
    )
  }

  /** Re-evaluates a pod whose container cannot start. */
  recheck(pod: string): void {
    const state = this.#stateOf(pod)
    if (state && !state.program && !state.isTerminated) this.#startContainer(state)
  }

  /** Evicts a pod as a node does under memory pressure. */
  evict(pod: string): void {
    const state = this.#stateOf(pod)
    if (!state || state.isTerminated) return
    state.isEvicted = true
    if (state.program) state.program.kill()
    else this.#end(state, killed)
  }

  /** Cuts a pod's node off from the control plane, or reconnects it. While cut off, the pod is neither updated nor reconciled. */
  cutOff(pod: string, isCutOff: boolean): void {
    const state = this.#stateOf(pod)
    if (!state) return
    state.isCutOff = isCutOff
    if (!isCutOff) this.#syncPod(state)
  }

  /** Kills all programs; the pods stay as they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#reflector[Symbol.asyncDispose](), this.#writes[Symbol.asyncDispose]()])
    for (const state of this.#states.values()) {
      clearTimeout(state.timer)
      state.isTerminated = true
    }
    for (const program of this.#programs) program.kill()
    await Promise.all([...this.#programs].map(({ ended }) => ended))
    await this.#connection[Symbol.asyncDispose]()
  }

  #stateOf(pod: string): PodState | undefined {
    return [...this.#states.values()].find((state) => state.pod.metadata.name === pod)
  }

  #onChange({ kind, object }: Change<PodObject>) {
    const key = objectKey(object)
    const known = this.#states.get(key)
    const isSame = known?.pod.metadata.uid === object.metadata.uid
    if (known && (kind === 'deleted' || !isSame)) this.#remove(key, known)
    if (kind === 'deleted' || object.spec.nodeName === undefined) return
    const state = known && isSame ? known : newPodState(object)
    state.pod = object
    this.#states.set(key, state)
    if (state !== known && !object.metadata.deletionTimestamp) this.#startContainer(state)
    if (!state.isCutOff) this.#syncPod(state)
  }

  /** Reconciles the pod with its object. */
  #syncPod(state: PodState) {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = state.pod.metadata
    if (deletionTimestamp) this.#stop(state, deletionGracePeriodSeconds)
    this.#writes.add(objectKey(state.pod))
  }

  /** Handles the removal of the pod's object: deleted without grace, or lost in a restore of etcd. */
  #remove(key: string, state: PodState) {
    this.#states.delete(key)
    const { deletionGracePeriodSeconds } = state.pod.metadata
    this.#stop(state, deletionGracePeriodSeconds ?? state.pod.spec.terminationGracePeriodSeconds)
  }

  #startContainer(state: PodState) {
    const waiting = this.#options.waitingReason?.(state.pod)
    if (waiting) state.waiting = waiting
    else this.#run(state)
    this.#writes.add(objectKey(state.pod))
  }

  #run(state: PodState) {
    const changed = () => this.#writes.add(objectKey(state.pod))
    const program = this.#options.run(state.pod, changed)
    state.program = program
    state.startedAt = now()
    this.#programs.add(program)
    void program.ended.then((exitCode) => this.#end(state, exitCode)).finally(() => this.#programs.delete(program))
  }

  #stop(state: PodState, graceSeconds: number) {
    if (state.isTerminated || graceSeconds >= (state.graceSeconds ?? Infinity)) return
    const isFirst = state.graceSeconds === undefined
    state.graceSeconds = graceSeconds
    clearTimeout(state.timer)
    const { program } = state
    if (!program) return this.#end(state, killed)
    if (isFirst) program.stop()
    state.timer = setTimeout(() => program.kill(), graceSeconds * 1000)
  }

  #end(state: PodState, exitCode: number) {
    const { pod, startedAt } = state
    delete state.program
    clearTimeout(state.timer)
    const reason = exitCode === 0 ? 'Completed' : 'Error'
    state.last = { exitCode, reason, startedAt, finishedAt: now() }
    const isLast = state.graceSeconds !== undefined || state.isEvicted || pod.spec.restartPolicy === 'Never'
    state.isTerminated ||= isLast
    if (!state.isTerminated) {
      state.restarts += 1
      state.waiting = { reason: 'CrashLoopBackOff' }
      state.timer = setTimeout(() => this.#startContainer(state), this.#options.restartMs ?? 1000)
    }
    this.#writes.add(objectKey(pod))
  }

  async #write(key: string) {
    const state = this.#states.get(key)
    if (!state || state.isCutOff) return
    const { pod } = state
    const { name, namespace, uid } = pod.metadata
    const ref = { resource: pods, namespace, name }
    const status = podStatusOf(state)
    const isRemoved = pod.metadata.deletionTimestamp !== undefined && state.isTerminated
    try {
      // The Job controller has to read the final status of its pods; for other pods it does not matter.
      const isRead = !isRemoved || pod.spec.restartPolicy === 'Never'
      if (isRead && !isSameStatus(pod.status, status)) {
        const body = { metadata: { uid }, status }
        await this.#api.patch({ ...ref, subresource: 'status' }, { kind: 'merge', body })
      }
      if (isRemoved) await this.#api.remove(ref, { uid, graceSeconds: 0 })
    } catch (thrown) {
      // The pod was replaced or deleted: a watch event follows.
      const outcome = outcomeOf(thrown)
      if (outcome !== 'not-found' && outcome !== 'conflict') throw thrown
    }
  }
}

/** Exit code after SIGKILL, or of a container that never started. */
const killed = 137
