import { randomBytes } from 'node:crypto'
import { createProxiedObserver } from '#controller/proxied/observe-proxied.ts'
import type { ProxiedPolicy } from '#controller/proxied/proxied.ts'
import { proxiedQueue, runProxied } from '#controller/proxied/run-proxied.ts'
import { managedSelector, objectName } from '#shared/kube/names.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { jobManifest, type JobOptions, jobRevision } from '#controller/operator/manifests/job.ts'
import { KubernetesJobs } from './kubernetes-jobs.ts'
import type { RunPool } from '#controller/operator/pools/pool-runner.ts'
import { proxiedStatus } from '#controller/operator/status/proxied-status.ts'

const pool = 'proxied'
const nameBytes = 6

/** The loop of a pool that runs a Job per capture. When it stops, Jobs finish their captures without it. */
export const runProxiedPool: RunPool = async (deps, run, stop) => {
  const { api, clock, informers, podStarts, subscriptions, queue, statuses, settings } = deps
  const { name } = run.pool().metadata
  const namespace = informers.jobsNamespace
  using events = deps.events.jobs({ queue: pool, browserpool: name })

  const options = (): JobOptions => {
    const { metadata, spec } = run.pool()
    return { pool: metadata, spec, namespace, settings }
  }
  const policy = (): ProxiedPolicy => {
    const { paused, jobs } = run.pool().spec
    return { isPaused: paused, max: jobs.max, spares: jobs.spares, revision: jobRevision(options()) }
  }
  await using runner = new KubernetesJobs(
    {
      api,
      jobs: informers.jobs,
      pods: informers.jobPods,
      now: clock.nowMs,
      troubleOf: podStarts.troubleOf,
      hasClaimed: (job) => subscriptions.reports.of(job)?.captureId !== undefined,
      newName: () => objectName(name, randomBytes(nameBytes).toString('hex')),
      manifest: (job) => jobManifest(job, options()),
      notice: events.noticed,
    },
    { namespace, labelSelector: managedSelector(settings.instance) },
  )
  using _jobs = informers.onJobChange((change) => {
    runner.changed(change)
    run.wakeup.notify()
  })
  const { publishState, subscribeToPoolWakeups } = proxiedQueue(queue)
  using _wakeups = subscribeToPoolWakeups(run.wakeup)
  const observe = createProxiedObserver({
    runner,
    reports: subscriptions.reports,
    subscription: subscriptions.of(pool),
    now: clock.nowMs,
    readDepth: () => poolDepth(queue, pool),
  })
  await runProxied(
    {
      observe,
      runner,
      policy,
      publishState,
      wakeup: run.wakeup,
      decided: (tick) => {
        events.decided(tick, policy())
        const now = run.pool()
        statuses.write(
          now,
          proxiedStatus({
            ...tick,
            pool: statuses.withLatestStatus(now),
            instance: settings.instance,
            at: clock.date(),
          }),
        )
      },
      failed: run.events.tickFailed,
      took: run.events.reconciled,
    },
    deps.timing,
    stop,
  )
}
