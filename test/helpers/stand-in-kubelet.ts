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

/** What a kubelet is to do with pods. */
export type KubeletOptions = {
  readonly cluster: Pick<TestCluster, 'kubeconfig' | 'kwokPlaysWorkers'>
  /** Runs what is in a pod's container; `changed` is to be called when it may have become ready, or no longer is. */
  readonly run: (pod: PodObject, changed: () => void) => Program
  /** Why a container does not come to run; asked again by `look`. */
  readonly hindered?: (pod: PodObject) => Waiting | undefined
  /** Milliseconds after which a container that ended is started again; 1000 by default. */
  readonly restartMs?: number
  /** Its pods; those of all workers by default. */
  readonly selector?: string
}

/**
 * Runs the pods of workers that were given to a node, and writes their statuses as kubelets do: containers are started,
 * started again, told to end within their grace, and the pod goes after them. Begins at once.
 */
export class StandInKubelet implements AsyncDisposable {
  readonly #options: KubeletOptions
  readonly #connection: KubeConnection
  readonly #api: KubeApi
  readonly #reflector: Reflector<PodObject>
  readonly #writes: WorkQueue
  readonly #lives = new Map<string, PodLife>()
  /** Programs that run, and those whose pods are gone already. */
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

  /** Looks again at a pod that was hindered. */
  look(pod: string): void {
    const life = this.#lifeOf(pod)
    if (life && !life.program && !life.isOver) this.#begin(life)
  }

  /** Ends a pod as a node that is short of memory does. */
  evict(pod: string): void {
    const life = this.#lifeOf(pod)
    if (!life || life.isOver) return
    life.isEvicted = true
    if (life.program) life.program.kill()
    else this.#end(life, killed)
  }

  /** Cuts a pod's node off from the control plane, or connects it again: nothing is written of the pod or done about it. */
  cutOff(pod: string, isCutOff: boolean): void {
    const life = this.#lifeOf(pod)
    if (!life) return
    life.isCutOff = isCutOff
    if (!isCutOff) this.#follow(life)
  }

  /** Kills everything that runs; the pods stay as they are. */
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

  /** Does what the pod's object asks for. */
  #follow(life: PodLife) {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = life.pod.metadata
    if (deletionTimestamp) this.#stop(life, deletionGracePeriodSeconds)
    this.#writes.add(keyOf(life.pod))
  }

  /** The pod's object is gone: without grace, or with the API server's memory of it. */
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
      // Who counts a Job's pods has to see how they ended; of others it does not matter.
      const isRead = !goes || pod.spec.restartPolicy === 'Never'
      if (isRead && !isSameStatus(pod.status, status)) {
        const body = { metadata: { uid }, status }
        await this.#api.patch({ ...ref, subresource: 'status' }, { kind: 'merge', body })
      }
      if (goes) await this.#api.remove(ref, { uid, graceSeconds: 0 })
    } catch (thrown) {
      // Another pod has the name, or none: a change tells of it.
      const outcome = outcomeOf(thrown)
      if (outcome !== 'not-found' && outcome !== 'conflict') throw thrown
    }
  }
}

/** Exit code of what was ended by SIGKILL, or never began. */
const killed = 137
