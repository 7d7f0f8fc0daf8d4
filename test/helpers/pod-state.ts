import type { ContainerState, PodCondition, PodObject, PodStatus } from './worker-pod-object.ts'

/** Waiting reason of a container: `ImagePullBackOff`, `CreateContainerConfigError`, `CrashLoopBackOff`. */
export type Waiting = { readonly reason: string; readonly message?: string }

/** The program in a worker's container. */
export type Program = {
  /** Whether its readiness probe would succeed. */
  readonly isReady: () => boolean
  /** Requests a graceful exit, like SIGTERM. */
  readonly stop: () => void
  /** Ends it immediately, like SIGKILL. */
  readonly kill: () => void
  /** Its exit code. */
  readonly ended: Promise<number>
}

/** A kubelet's state of one pod. */
export type PodState = {
  /** The last observed object. */
  pod: PodObject
  program?: Program
  waiting: Waiting
  startedAt: string
  /** Termination of the latest run. */
  last?: NonNullable<ContainerState['terminated']>
  restarts: number
  /** Whether the pod has terminated permanently. */
  isTerminated: boolean
  isEvicted: boolean
  /** Whether the control plane cannot reach its node. */
  isCutOff: boolean
  /** Grace period of its termination in seconds; undefined until it is requested. */
  graceSeconds?: number
  timer?: NodeJS.Timeout
}

/** The initial state of a pod on its node. */
export const newPodState = (pod: PodObject): PodState => ({
  pod,
  waiting: { reason: 'ContainerCreating' },
  startedAt: now(),
  restarts: 0,
  isTerminated: false,
  isEvicted: false,
  isCutOff: false,
})

/** The current time in Kubernetes' format. */
export const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z')

const phaseOf = ({ program, last, restarts, isTerminated, isEvicted }: PodState): string => {
  if (isTerminated) return last?.exitCode === 0 && !isEvicted ? 'Succeeded' : 'Failed'
  return program || restarts > 0 ? 'Running' : 'Pending'
}

const containerStateOf = ({ program, last, isTerminated, waiting, startedAt }: PodState): ContainerState => {
  if (program) return { running: { startedAt } }
  return isTerminated && last ? { terminated: last } : { waiting }
}

/** The status of a pod; keeps conditions of other writers, and the transition times of unchanged conditions. */
export const podStatusOf = (state: PodState): PodStatus => {
  const { pod, program, last, restarts, isTerminated, isEvicted, startedAt } = state
  const isReady = program?.isReady() ?? false
  const old = pod.status?.conditions ?? []
  const condition = (type: string, holds: boolean): PodCondition => {
    const status = holds ? 'True' : 'False'
    const before = old.find((each) => each.type === type)
    return before?.status === status ? before : { type, status, lastTransitionTime: now() }
  }
  const own = [condition('Initialized', true), condition('ContainersReady', isReady), condition('Ready', isReady)]
  return {
    phase: phaseOf(state),
    ...(isEvicted && { reason: 'Evicted', message: 'The node was low on resource: memory.' }),
    startTime: pod.status?.startTime ?? startedAt,
    conditions: [...old.filter(({ type }) => own.every((each) => each.type !== type)), ...own],
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image,
      ready: isReady,
      started: program !== undefined,
      restartCount: restarts,
      state: containerStateOf(state),
      lastState: last && !isTerminated ? { terminated: last } : {},
    })),
  }
}

/** Whether two statuses are equal in all fields that clients act on. */
export const isSameStatus = (one: PodStatus | undefined, other: PodStatus): boolean =>
  JSON.stringify(factsOf(one)) === JSON.stringify(factsOf(other))

const factsOf = (status: PodStatus | undefined) => {
  const [container] = status?.containerStatuses ?? []
  const { waiting, running, terminated } = container?.state ?? {}
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return [
    status?.phase,
    ready?.status,
    container?.restartCount,
    waiting?.reason,
    running !== undefined,
    terminated?.exitCode,
  ]
}
