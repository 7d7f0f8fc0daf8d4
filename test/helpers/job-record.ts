import { claimOf, endOf, jobs, type ObservedJob } from '#controller/operator/watch/observed-job.ts'
import { createKubeApi } from '#shared/kube/client.ts'
import { systemClock } from '#controller/kube/clock.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { Reflector } from '#controller/kube/reflector.ts'
import type { TestCluster } from './cluster.ts'
import type { Fleet } from './cluster-fleet.ts'
import type { ClusterQueue, LedgerRow } from './cluster-queue.ts'

/** History of Jobs, from watch events of the API server. */
export type JobRecord = AsyncDisposable & {
  /** Names of all created Jobs. */
  readonly createdNames: ReadonlySet<string>
  readonly unfinished: () => readonly ObservedJob[]
  /** Latest claim of each Job. */
  readonly claims: ReadonlyMap<string, string>
  /** Number of times a claim appeared or changed. */
  readonly claimWrites: () => number
  /** Maximum number of concurrent unfinished Jobs. */
  readonly most: () => number
  /** Moments with more unclaimed Jobs than waiting captures plus spares. */
  readonly excesses: readonly string[]
  /** Resets all counts. */
  readonly restart: () => void
}

/** Starts to record Jobs. */
export const recordJobs = (
  { cluster, queue, fleet }: { cluster: TestCluster; queue: ClusterQueue; fleet: Fleet },
  spares: () => number,
): JobRecord => {
  const connection = openConnection({ kubeconfig: cluster.kubeconfig, userAgent: 'test' })
  const createdNames = new Set<string>()
  const claims = new Map<string, string>()
  const excesses: string[] = []
  let most = 0
  let claimWrites = 0

  const unfinished = () => reflector.all().filter((job) => !endOf(job))
  /** A claim decrements both Jobs and captures, so that a late watch event causes no false excess. */
  const check = () => {
    const alive = unfinished()
    const running = new Set(fleet.workers().map(({ spec }) => spec.pod))
    const served = new Set(fleet.attempts.map(({ pod }) => jobOf(pod)))
    const held = new Set(
      fleet.attempts.flatMap(({ id, pod, outcome }) => (outcome === 'completed' || running.has(pod) ? [id] : [])),
    )
    const free = alive.filter(({ metadata }) => !served.has(metadata.name)).length
    // The controller knows of a start once the ledger has read it.
    const isWaiting = ({ id, starts }: LedgerRow) => starts.length === 0 || !held.has(id)
    const waiting = queue.unended().filter((row) => row.pool === 'proxied' && isWaiting(row)).length
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
        if (kind === 'added') createdNames.add(name)
        if (createdNames.has(name) && claim !== undefined && claims.get(name) !== claim) {
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
    createdNames,
    claims,
    excesses,
    unfinished,
    claimWrites: () => claimWrites,
    most: () => most,
    restart: () => {
      createdNames.clear()
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

/** Name of a pod's Job, derived from the pod name that Kubernetes generated. */
export const jobOf = (pod: string): string => pod.replace(/-[a-z0-9]{5}$/, '')
