import type { Trouble } from '#controller/pool.ts'
import { conditionOf, hasEnded, isStopping, type SeenContainer, type SeenPod } from './seen-pod.ts'
import { workerContainer } from './worker-pod.ts'

/** Why a pod does not come up; `message` is Kubernetes' own, where it has one. */
export type PodTrouble = { readonly trouble: Trouble; readonly message: string }

/** What a container waits for that only somebody else can give, in kubelet's words. */
const waitTroubles: Readonly<Record<string, Trouble>> = {
  ImagePullBackOff: 'image-pull',
  ErrImagePull: 'image-pull',
  ErrImageNeverPull: 'image-pull',
  InvalidImageName: 'image-pull',
  CrashLoopBackOff: 'crash-looping',
  CreateContainerConfigError: 'config-error',
  CreateContainerError: 'config-error',
  RunContainerError: 'config-error',
}

/**
 * What keeps a pod from taking work, as Kubernetes knows it; undefined of one that works, is on its way, was told to end, or
 * has ended.
 */
export const troubleOf = (pod: SeenPod): PodTrouble | undefined => {
  if (isStopping(pod) || hasEnded(pod)) return undefined
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable') {
    return { trouble: 'unschedulable', message: scheduled.message ?? '' }
  }
  // Beside it there may be others that somebody's webhook adds.
  const container = pod.status?.containerStatuses?.find(({ name }) => name === workerContainer)
  return container && containerTrouble(container, conditionOf(pod, 'Ready')?.lastTransitionTime)
}

const containerTrouble = (container: SeenContainer, unreadySince: string | undefined): PodTrouble | undefined => {
  const { waiting, terminated } = container.state ?? {}
  if (waiting) return waitTrouble(waiting)
  if (terminated) return endTrouble(terminated)
  if (!wasRestarted(container, unreadySince)) return undefined
  return { trouble: 'crash-looping', message: `the worker was restarted ${container.restartCount} times` }
}

type States = NonNullable<SeenContainer['state']>

const waitTrouble = ({ reason = '', message = reason }: NonNullable<States['waiting']>): PodTrouble | undefined => {
  const trouble = waitTroubles[reason]
  return trouble && { trouble, message }
}

const endTrouble = ({ exitCode }: NonNullable<States['terminated']>): PodTrouble | undefined =>
  exitCode === 0 ? undefined : { trouble: 'crash-looping', message: `the worker ended with code ${exitCode}` }

/** Whether it runs again after it ended, and has not been ready since. One that drains has, since its container began. */
const wasRestarted = ({ ready, restartCount = 0, state }: SeenContainer, unreadySince = ''): boolean => {
  const startedAt = state?.running?.startedAt
  return startedAt !== undefined && ready !== true && restartCount > 0 && unreadySince <= startedAt
}
