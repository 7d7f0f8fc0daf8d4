import { claimOf, endOf, jobs, type ObservedJob } from '#controller/operator/watch/observed-job.ts'
import { createKubeApi } from '#shared/kube/client.ts'
import { systemClock } from '#controller/kube/clock.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { Reflector } from '#controller/kube/reflector.ts'
import type { TestCluster } from './cluster.ts'
import type { Fleet } from './cluster-fleet.ts'
import type { ClusterQueue } from './cluster-queue.ts'

/** What became of Jobs, as the API server told it. */
export type JobRecord = AsyncDisposable & {
  /** Names of all Jobs that were made. */
  readonly made: ReadonlySet<string>
  readonly unfinished: () => readonly ObservedJob[]
  readonly of: (name: string) => ObservedJob | undefined
  /** The last claim that each of them showed. */
  readonly claims: ReadonlyMap<string, string>
  /** How often a claim was shown or changed. */
  readonly claimWrites: () => number
  /** Most Jobs that had not ended at one time. */
  readonly most: () => number
  /** Moments with more Jobs that have claimed nothing than captures waited, spares included. */
  readonly excesses: readonly string[]
  /** Counts from here on. */
  readonly restart: () => void
}

/** Begins to write down what becomes of Jobs. */
export const recordJobs = (
  { cluster, queue, fleet }: { cluster: TestCluster; queue: ClusterQueue; fleet: Fleet },
  spares: () => number,
): JobRecord => {
  const connection = openConnection({ kubeconfig: cluster.kubeconfig, userAgent: 'test' })
  const made = new Set<string>()
  const claims = new Map<string, string>()
  const excesses: string[] = []
  let most = 0
  let claimWrites = 0

  const unfinished = () => reflector.all().filter((job) => !endOf(job))
  /** Whoever claims takes one from both sides, so that a late look at the Jobs finds nothing that was not there. */
  const check = () => {
    const alive = unfinished()
    const running = new Set(fleet.workers().map(({ spec }) => spec.pod))
    const served = new Set(fleet.attempts.map(({ pod }) => jobOf(pod)))
    const held = new Set(
      fleet.attempts.flatMap(({ id, pod, outcome }) => (outcome === 'completed' || running.has(pod) ? [id] : [])),
    )
    const free = alive.filter(({ metadata }) => !served.has(metadata.name)).length
    const waiting = queue.unended().filter(({ pool, id }) => pool === 'proxied' && !held.has(id)).length
    most = Math.max(most, alive.length)
    if (free > waiting + spares()) excesses.push(`${free} free Jobs for ${waiting} captures`)
  }
  const reflector: Reflector<ObservedJob> = new Reflector<ObservedJob>(
    {
      api: createKubeApi(connection),
      clock: systemClock,
      random: Math.random,
      changed: ({ kind, object }) => {
        const { name } = object.metadata
        const claim = claimOf(object)
        if (kind === 'added') made.add(name)
        if (made.has(name) && claim !== undefined && claims.get(name) !== claim) {
          claims.set(name, claim)
          claimWrites += 1
        }
        check()
      },
      events: { listed: () => {}, ended: () => {} },
    },
    { resource: jobs, backOff: { firstMs: 50, lastMs: 500 } },
  )
  return {
    made,
    claims,
    excesses,
    unfinished,
    of: (name) => reflector.all().find(({ metadata }) => metadata.name === name),
    claimWrites: () => claimWrites,
    most: () => most,
    restart: () => {
      made.clear()
      claims.clear()
      excesses.splice(0)
      most = 0
      claimWrites = 0
    },
    [Symbol.asyncDispose]: async () => {
      await reflector[Symbol.asyncDispose]()
      await connection[Symbol.asyncDispose]()
    },
  }
}

/** The Job of a pod, by the name that Kubernetes gave it. */
export const jobOf = (pod: string): string => pod.replace(/-[a-z0-9]{5}$/, '')
