import { randomBytes } from 'node:crypto'
import { jobManifest, type JobOptions, jobRevision } from '#controller/operator/manifests/job.ts'
import type { PodSettings } from '#controller/operator/manifests/worker-pod.ts'
import type { PodStarts } from '#controller/operator/pods/pod-starts.ts'
import type { ComposeStatus } from '#controller/operator/status/conditions.ts'
import { proxiedStatus } from '#controller/operator/status/proxied-status.ts'
import type { Informers } from '#controller/operator/watch/informers.ts'
import type { PoolSubscriptions } from '#controller/reconcile/pool-subscriptions.ts'
import type { ProxiedPolicy } from '#controller/proxied/proxied.ts'
import { proxiedQueue, proxiedWorkload } from '#controller/proxied/proxied-workload.ts'
import type { PoolLoop } from '#controller/reconcile/pool-loops.ts'
import type { ControllerEvents } from '#controller/telemetry/events.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { managedSelector, objectName } from '#shared/kube/names.ts'
import type { Queue } from '#shared/queue/connection.ts'
import { KubernetesJobs, type KubernetesJobsDeps } from './kubernetes-jobs.ts'

type JobsDeps = Pick<KubernetesJobsDeps, 'api'> & {
  readonly clock: Pick<Clock, 'nowMs'>
  readonly informers: Pick<Informers, 'jobsNamespace' | 'jobs' | 'jobPods' | 'onJobChange'>
  readonly podStarts: Pick<PodStarts, 'troubleOf'>
  readonly subscriptions: Pick<PoolSubscriptions, 'forPool' | 'reports'>
  readonly queue: Queue
  readonly events: Pick<ControllerEvents, 'jobs'>
  readonly settings: PodSettings
}

const nameBytes = 6

/** Reconciles a pool that runs a Job per capture. When it stops, Jobs finish their captures without it. */
export const reconcileJobs = async (deps: JobsDeps, loop: PoolLoop<BrowserPool, ComposeStatus>): Promise<void> => {
  const { api, clock, informers, podStarts, subscriptions, queue, settings } = deps
  const { reports } = subscriptions
  const namespace = informers.jobsNamespace
  using events = deps.events.jobs(loop.labels)

  const options = (): JobOptions => {
    const { metadata, spec } = loop.pool()
    return { pool: metadata, spec, namespace, settings }
  }
  const policy = (): ProxiedPolicy => {
    const { paused, jobs } = loop.pool().spec
    return { isPaused: paused, max: jobs.max, spares: jobs.spares, revision: jobRevision(options()) }
  }
  await using runner = new KubernetesJobs(
    {
      api,
      jobs: informers.jobs,
      pods: informers.jobPods,
      now: clock.nowMs,
      troubleOf: podStarts.troubleOf,
      hasClaimed: (job) => reports.get(job)?.captureId !== undefined,
      newName: () => objectName(loop.labels.browserpool, randomBytes(nameBytes).toString('hex')),
      manifest: (job) => jobManifest(job, options()),
      notice: events.noticed,
    },
    { namespace, labelSelector: managedSelector(settings.instance) },
  )
  using _jobs = informers.onJobChange((change) => {
    runner.changed(change)
    loop.wakeup.notify()
  })
  const subscription = subscriptions.forPool('proxied')
  await loop.run({
    ...proxiedWorkload({ runner, reports, subscription, now: clock.nowMs, policy, ...proxiedQueue(queue) }),
    summarize: (tick) => {
      events.decided(tick, policy())
      return { isCalm: false, status: (base) => proxiedStatus({ ...base, ...tick }) }
    },
  })
}
