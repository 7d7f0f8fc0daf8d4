import { type ControllerDeps, targetOf } from './controller.ts'
import { at, type JsonObject } from './object.ts'
import { hasEnded } from './pods.ts'

/** `gcCheckPeriod` of Kubernetes' `pkg/controller/podgc/gc_controller.go`. */
const periodMs = 20_000

/**
 * Simulates kube-controller-manager's pod garbage collector, as far as it collects pods that were deleted before they had a
 * node: no kubelet ends these, and a finalizer, such as a Job's, keeps them. It marks them as failed, without a condition, so that
 * the Job controller counts them and removes its finalizer.
 */
export const startPodCollector = ({ server, clock, isAway }: ControllerDeps): void => {
  const collect = () => {
    clock.after(periodMs, collect)
    if (isAway()) return
    for (const pod of server.store.all('v1/pods')) {
      if (pod.metadata.deletionTimestamp === undefined || at(pod, 'spec', 'nodeName') !== undefined) continue
      if (hasEnded(pod)) continue
      server.edit(targetOf(server, pod, 'status'), (live) => ({
        ...live,
        status: { ...(live['status'] as JsonObject | undefined), phase: 'Failed' },
      }))
      server.remove(targetOf(server, pod), { uid: pod.metadata.uid, graceSeconds: 0 })
    }
  }
  clock.after(periodMs, collect)
}
