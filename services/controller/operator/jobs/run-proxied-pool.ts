import { randomBytes } from 'node:crypto'
import { createProxiedObserver } from '#controller/proxied/observe-proxied.ts'
import type { ProxiedPolicy } from '#controller/proxied/proxied.ts'
import { proxiedQueue, runProxied } from '#controller/proxied/run-proxied.ts'
import { managedSelector, objectName } from '#shared/kube/names.ts'
import { poolDepth } from '#shared/queue/streams.ts'
import { jobManifest, type JobOptions, jobRevision } from '#controller/operator/manifests/job.ts'
import { KubernetesJobs } from './kubernetes-jobs.ts'
import type { RunPool } from '#controller/operator/pools/pool-runner.ts'
import { proxiedStatusOf } from '#controller/operator/status/proxied-status.ts'

const pool = 'proxied'
const nameBytes = 6

/** The loop of a pool whose captures get a Job each. When it stops, Jobs go on: nobody else is needed for their captures. */
export const runProxiedPool: RunPool = async (deps, run, stop) => {
  const { api, clock, watch, startTimes, ears, queue, statuses, settings } = deps
  const { name } = run.pool().metadata
  const namespace = watch.jobsNamespace
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
      jobs: watch.jobs,
      pods: watch.jobPods,
      now: clock.nowMs,
      troubleOf: startTimes.troubleOf,
      hasClaimed: (job) => ears.reports.of(job)?.captureId !== undefined,
      newName: () => objectName(name, randomBytes(nameBytes).toString('hex')),
      manifest: (job) => jobManifest(job, options()),
      notice: events.noticed,
    },
    { namespace, labelSelector: managedSelector(settings.instance) },
  )
  using _jobs = watch.followJobs((change) => {
    runner.changed(change)
    run.bell.ring()
  })
  const { publishState, hearPokes } = proxiedQueue(queue)
  using _pokes = hearPokes(run.bell)
  const observe = createProxiedObserver({
    runner,
    reports: ears.reports,
    hearing: ears.of(pool),
    now: clock.nowMs,
    readDepth: () => poolDepth(queue, pool),
  })
  await runProxied(
    {
      observe,
      runner,
      policy,
      publishState,
      bell: run.bell,
      decided: (tick) => {
        run.turned()
        events.decided(tick, policy())
        const now = run.pool()
        statuses.say(
          now,
          proxiedStatusOf({ ...tick, pool: statuses.withSaid(now), instance: settings.instance, at: clock.date() }),
        )
      },
      failed: run.events.tickFailed,
      took: run.events.reconciled,
    },
    deps.timing,
    stop,
  )
}
