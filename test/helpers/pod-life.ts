import type { ContainerState, PodCondition, PodObject, PodStatus } from './worker-pod-object.ts'

/** Why a container waits, in a kubelet's words: `ImagePullBackOff`, `CreateContainerConfigError`, `CrashLoopBackOff`. */
export type Waiting = { readonly reason: string; readonly message?: string }

/** What runs in a worker's container. */
export type Program = {
  /** Whether its readiness probe would succeed. */
  readonly isReady: () => boolean
  /** Asks it to end, as SIGTERM does. */
  readonly stop: () => void
  /** Ends it at once, as SIGKILL does. */
  readonly kill: () => void
  /** Its exit code. */
  readonly ended: Promise<number>
}

/** What a kubelet knows of one pod. */
export type PodLife = {
  /** The pod as it was last seen. */
  pod: PodObject
  program?: Program
  waiting: Waiting
  startedAt: string
  /** The end of the latest run. */
  last?: NonNullable<ContainerState['terminated']>
  restarts: number
  /** Whether nothing runs any more, and nothing will. */
  isOver: boolean
  isEvicted: boolean
  /** Whether its node is out of reach of the control plane. */
  isCutOff: boolean
  /** Seconds that it was given to end; undefined while it was not told to. */
  graceSeconds?: number
  timer?: NodeJS.Timeout
}

/** The beginning of a pod's life on its node. */
export const newLife = (pod: PodObject): PodLife => ({
  pod,
  waiting: { reason: 'ContainerCreating' },
  startedAt: now(),
  restarts: 0,
  isOver: false,
  isEvicted: false,
  isCutOff: false,
})

/** The time as Kubernetes writes it. */
export const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z')

const phaseOf = ({ program, last, restarts, isOver, isEvicted }: PodLife): string => {
  if (isOver) return last?.exitCode === 0 && !isEvicted ? 'Succeeded' : 'Failed'
  return program || restarts > 0 ? 'Running' : 'Pending'
}

const stateOf = ({ program, last, isOver, waiting, startedAt }: PodLife): ContainerState => {
  if (program) return { running: { startedAt } }
  return isOver && last ? { terminated: last } : { waiting }
}

/** The status that says how a pod lives; conditions that others set stay, times of those that stay the same too. */
export const poolStatus = (life: PodLife): PodStatus => {
  const { pod, program, last, restarts, isOver, isEvicted, startedAt } = life
  const isReady = program?.isReady() ?? false
  const old = pod.status?.conditions ?? []
  const condition = (type: string, holds: boolean): PodCondition => {
    const status = holds ? 'True' : 'False'
    const before = old.find((each) => each.type === type)
    return before?.status === status ? before : { type, status, lastTransitionTime: now() }
  }
  const own = [condition('Initialized', true), condition('ContainersReady', isReady), condition('Ready', isReady)]
  return {
    phase: phaseOf(life),
    ...(isEvicted && { reason: 'Evicted', message: 'The node was low on resource: memory.' }),
    startTime: pod.status?.startTime ?? startedAt,
    conditions: [...old.filter(({ type }) => own.every((each) => each.type !== type)), ...own],
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image,
      ready: isReady,
      started: program !== undefined,
      restartCount: restarts,
      state: stateOf(life),
      lastState: last && !isOver ? { terminated: last } : {},
    })),
  }
}

/** Whether two statuses say the same of what anybody acts on. */
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
