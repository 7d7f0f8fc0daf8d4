import { type KubeApi, createKubeApi } from '#shared/kube/client.ts'
import { systemClock } from '#controller/kube/clock.ts'
import { type KubeConnection, openConnection } from '#shared/kube/connection.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { Change } from '#controller/kube/object-cache.ts'
import { Reflector } from '#controller/kube/reflector.ts'
import { keyOf } from '#shared/kube/resource.ts'
import type { TestCluster } from './cluster.ts'
import { isSameStatus, newLife, now, type PodLife, type Program, poolStatus, type Waiting } from './pod-life.ts'
import { WorkQueue } from './work-queue.ts'
import { type PodObject, pods, workerSelector } from './worker-pod-object.ts'

const writesAtOnce = 8
const podsMax = 10_000

/** Behaviour of a kubelet. */
export type KubeletOptions = {
  readonly cluster: Pick<TestCluster, 'kubeconfig' | 'kwokPlaysWorkers'>
  /** Starts the program of a pod's container, which must call `changed` when its readiness may have changed. */
  readonly run: (pod: PodObject, changed: () => void) => Program
  /** Reason why a container cannot run; re-evaluated by `look`. */
  readonly hindered?: (pod: PodObject) => Waiting | undefined
  /** Milliseconds until an exited container is restarted; 1000 by default. */
  readonly restartMs?: number
  /** Selects its pods; by default the pods of all workers. */
  readonly selector?: string
}

/**
 * Runs workers' pods that are bound to a node, and writes their statuses as kubelets do: starts, restarts and, within the
 * grace period, stops containers, then removes the pod. Starts immediately.
 */
export class StandInKubelet implements AsyncDisposable {
  readonly #options: KubeletOptions
  readonly #connection: KubeConnection
  readonly #api: KubeApi
  readonly #reflector: Reflector<PodObject>
  readonly #writes: WorkQueue
  readonly #lives = new Map<string, PodLife>()
  /** Running programs, including those of removed pods. */
  readonly #programs = new Set<Program>()

  constructor(options: KubeletOptions) {
    if (options.cluster.kwokPlaysWorkers) throw new Error('start the cluster with kwokPlaysWorkers: false')
    this.#options = options
    this.#connection = openConnection({ kubeconfig: options.cluster.kubeconfig, userAgent: 'kubelet' })
    this.#api = createKubeApi(this.#connection)
    this.#writes = new WorkQueue(
      { clock: systemClock, work: (key) => this.#write(key), failed: () => {} },
      { workers: writesAtOnce, keysMax: podsMax },
    )
    this.#reflector = new Reflector<PodObject>(
      {
        api: this.#api,
        clock: systemClock,
        random: Math.random,
        changed: (change) => this.#hear(change),
        events: { listed: () => {}, ended: () => {} },
      },
      { resource: pods, labelSelector: options.selector ?? workerSelector, backOff: { firstMs: 50, lastMs: 500 } },
    )
  }

  /** Re-evaluates a hindered pod. */
  look(pod: string): void {
    const life = this.#lifeOf(pod)
    if (life && !life.program && !life.isOver) this.#begin(life)
  }

  /** Evicts a pod as a node does under memory pressure. */
  evict(pod: string): void {
    const life = this.#lifeOf(pod)
    if (!life || life.isOver) return
    life.isEvicted = true
    if (life.program) life.program.kill()
    else this.#end(life, killed)
  }

  /** Cuts a pod's node off from the control plane, or reconnects it. While cut off, the pod is neither updated nor reconciled. */
  cutOff(pod: string, isCutOff: boolean): void {
    const life = this.#lifeOf(pod)
    if (!life) return
    life.isCutOff = isCutOff
    if (!isCutOff) this.#follow(life)
  }

  /** Kills all programs; the pods stay as they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#reflector[Symbol.asyncDispose](), this.#writes[Symbol.asyncDispose]()])
    for (const life of this.#lives.values()) {
      clearTimeout(life.timer)
      life.isOver = true
    }
    for (const program of this.#programs) program.kill()
    await Promise.all([...this.#programs].map(({ ended }) => ended))
    await this.#connection[Symbol.asyncDispose]()
  }

  #lifeOf(pod: string): PodLife | undefined {
    return [...this.#lives.values()].find((life) => life.pod.metadata.name === pod)
  }

  #hear({ kind, object }: Change<PodObject>) {
    const key = keyOf(object)
    const known = this.#lives.get(key)
    const isSame = known?.pod.metadata.uid === object.metadata.uid
    if (known && (kind === 'deleted' || !isSame)) this.#vanish(key, known)
    if (kind === 'deleted' || object.spec.nodeName === undefined) return
    const life = known && isSame ? known : newLife(object)
    life.pod = object
    this.#lives.set(key, life)
    if (life !== known && !object.metadata.deletionTimestamp) this.#begin(life)
    if (!life.isCutOff) this.#follow(life)
  }

  /** Reconciles the pod with its object. */
  #follow(life: PodLife) {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = life.pod.metadata
    if (deletionTimestamp) this.#stop(life, deletionGracePeriodSeconds)
    this.#writes.add(keyOf(life.pod))
  }

  /** Handles the removal of the pod's object: deleted without grace, or lost in a restore of etcd. */
  #vanish(key: string, life: PodLife) {
    this.#lives.delete(key)
    const { deletionGracePeriodSeconds } = life.pod.metadata
    this.#stop(life, deletionGracePeriodSeconds ?? life.pod.spec.terminationGracePeriodSeconds)
  }

  #begin(life: PodLife) {
    const hindrance = this.#options.hindered?.(life.pod)
    if (hindrance) life.waiting = hindrance
    else this.#run(life)
    this.#writes.add(keyOf(life.pod))
  }

  #run(life: PodLife) {
    const changed = () => void this.#writes.add(keyOf(life.pod))
    const program = this.#options.run(life.pod, changed)
    life.program = program
    life.startedAt = now()
    this.#programs.add(program)
    void program.ended.then((exitCode) => this.#end(life, exitCode)).finally(() => this.#programs.delete(program))
  }

  #stop(life: PodLife, graceSeconds: number) {
    if (life.isOver || graceSeconds >= (life.graceSeconds ?? Infinity)) return
    const isFirst = life.graceSeconds === undefined
    life.graceSeconds = graceSeconds
    clearTimeout(life.timer)
    const { program } = life
    if (!program) return this.#end(life, killed)
    if (isFirst) program.stop()
    life.timer = setTimeout(() => program.kill(), graceSeconds * 1000)
  }

  #end(life: PodLife, exitCode: number) {
    const { pod, startedAt } = life
    delete life.program
    clearTimeout(life.timer)
    const reason = exitCode === 0 ? 'Completed' : 'Error'
    life.last = { exitCode, reason, startedAt, finishedAt: now() }
    const isLast = life.graceSeconds !== undefined || life.isEvicted || pod.spec.restartPolicy === 'Never'
    life.isOver ||= isLast
    if (!life.isOver) {
      life.restarts += 1
      life.waiting = { reason: 'CrashLoopBackOff' }
      life.timer = setTimeout(() => this.#begin(life), this.#options.restartMs ?? 1000)
    }
    this.#writes.add(keyOf(pod))
  }

  async #write(key: string) {
    const life = this.#lives.get(key)
    if (!life || life.isCutOff) return
    const { pod } = life
    const { name, namespace, uid } = pod.metadata
    const ref = { resource: pods, namespace, name }
    const status = poolStatus(life)
    const goes = pod.metadata.deletionTimestamp !== undefined && life.isOver
    try {
      // The Job controller has to read the final status of its pods; for other pods it does not matter.
      const isRead = !goes || pod.spec.restartPolicy === 'Never'
      if (isRead && !isSameStatus(pod.status, status)) {
        const body = { metadata: { uid }, status }
        await this.#api.patch({ ...ref, subresource: 'status' }, { kind: 'merge', body })
      }
      if (goes) await this.#api.remove(ref, { uid, graceSeconds: 0 })
    } catch (thrown) {
      // The pod was replaced or deleted: a watch event follows.
      const outcome = outcomeOf(thrown)
      if (outcome !== 'not-found' && outcome !== 'conflict') throw thrown
    }
  }
}

/** Exit code after SIGKILL, or of a container that never started. */
const killed = 137
