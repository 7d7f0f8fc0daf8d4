import type { Change } from '#shared/kube/object-cache.ts'
import { isStopping, type SeenContainer, type SeenPod, workerOf } from '#controller/operator/watch/observed-pod.ts'

/** How a worker came to its end, and whether it was told to. */
export type WorkerEnd = { readonly how: string; readonly asked: boolean }

const isRunning = (container: SeenContainer | undefined): boolean => container?.state?.running !== undefined

/**
 * The end of the worker that ran in a pod when it was last seen, as a change of the pod shows it; undefined while it runs. One
 * that is started again in the same pod has ended before.
 */
export const workerEnd = (before: SeenPod, { kind, object }: Change<SeenPod>): WorkerEnd | undefined => {
  const [was, is] = [workerOf(before), workerOf(object)]
  if (!isRunning(was)) return undefined
  const isSame = kind !== 'deleted' && isRunning(is) && is?.restartCount === was?.restartCount
  return isSame ? undefined : { how: howOf(object, is), asked: isStopping(object) }
}

const howOf = ({ status }: SeenPod, container: SeenContainer | undefined): string => {
  const exitCode = container?.state?.terminated?.exitCode
  return exitCode === undefined ? (status?.reason ?? 'gone') : `exit code ${exitCode}`
}
