import type { Test } from 'tap'
import type { BrowserPoolSpec } from '#shared/kube/browser-pool.ts'
import type { PoolStateMessage, StartedMessage } from '#shared/queue/messages.ts'
import type { Fault } from './cluster-fleet.ts'
import { eventually } from './eventually.ts'
import { type JobRecord, recordJobs } from './job-record.ts'
import { type OperatorCluster, startOperatorCluster, type WantedSpec } from './operator-cluster.ts'

/** Name of the BrowserPool, and its maximum number of Jobs. */
export const proxied = { name: 'proxied', max: 10 } as const

/** State that a test changes while the cluster runs. */
type Life = {
  serviceMs: number
  /** Fault of every pod that starts. */
  fault?: Fault | undefined
}

/** A cluster with one BrowserPool that runs each capture in its own Job. */
export type ProxiedCluster = OperatorCluster & {
  readonly life: Life
  readonly record: JobRecord
  /** Changes the BrowserPool. */
  readonly configure: (jobs: Partial<BrowserPoolSpec['jobs']>, more?: WantedSpec) => Promise<void>
  readonly send: (count: number) => Promise<string[]>
  /** The controller's latest report on whether it can start Jobs. */
  readonly state: () => PoolStateMessage | undefined
  /** Started attempts of a capture. */
  readonly startsOf: (id: string) => readonly StartedMessage[]
  /** Ends a test: waits for all Jobs, asserts no excess Jobs and no capture with two results, and resets the counts. */
  readonly assertSettled: (t: Test) => Promise<void>
}

/** Starts the cluster, with simulated workers; stopped at the test's end. */
export const startProxiedCluster = async (t: Test): Promise<ProxiedCluster> => {
  const life: Life = { serviceMs: 300 }
  let spares = 0
  const cluster = await startOperatorCluster(t, {
    serviceMs: () => life.serviceMs,
    faultOf: () => life.fault,
    nodes: 2,
  })
  const { queue, applyPool } = cluster
  const record = recordJobs(cluster, () => spares)
  t.teardown(() => record[Symbol.asyncDispose]())
  const state = () => queue.poolStates.get('proxied')
  const configure: ProxiedCluster['configure'] = (jobs, more = {}) => {
    spares = jobs.spares ?? 0
    return applyPool(proxied.name, { pool: 'proxied', jobs: { max: proxied.max, ...jobs }, ...more })
  }
  await configure({})
  await eventually(() => state()?.canStart === true)
  return {
    ...cluster,
    life,
    record,
    configure,
    state,
    send: (count) => queue.send(count, { pool: 'proxied' }),
    startsOf: (id) => queue.rows.get(id)?.starts ?? [],
    assertSettled: async (test) => {
      await eventually(() => record.unfinished().length === 0, { withinMs: 60_000, what: 'all Jobs have ended' })
      test.strictSame(record.excesses, [], 'never more Jobs than captures, claims and spares')
      test.ok(record.most() <= proxied.max, `${record.most()} Jobs at one time`)
      test.strictSame(queue.endedTwice(), [])
      record.restart()
    },
  }
}
