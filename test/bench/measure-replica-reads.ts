import { eventually } from '#test/helpers/eventually.ts'
import { startReplicaOf } from '#test/helpers/postgres-replica.ts'
import { cpuSeconds } from './cpu-seconds.ts'
import { fillCaptures } from './fill-captures.ts'
import { forkSender } from './fork-sender.ts'
import type { Load, LoadResult } from './load.ts'
import { createClients, getRequest, startServed } from './served.ts'

const accounts = 50
const connections = 16
const pageRows = 20

/** How much is measured: rows in the table, and for how long each load is sent; `warmSeconds` of it do not count. */
export type ReplicaWorkload = {
  readonly rows: number
  readonly warmSeconds: number
  readonly seconds: number
  /** Lists a second of the steady load. */
  readonly perSecond: number
}

/** How lists go that are read from one of the servers. */
export type ReplicaReading = {
  readonly from: 'primary' | 'replica'
  /** Whether they were sent at a steady rate, not as fast as it goes. */
  readonly isSteady: boolean
  readonly result: LoadResult
  /** Share of the lists that the replica served. */
  readonly replicaShare: number
  /** Processor milliseconds for one list, its check included. */
  readonly cost: { readonly primary: number; readonly replica: number; readonly gateway: number }
}

type Gateway = { readonly pid: number; readonly baseUrl: string; readonly probeUrl: string }

/** Reads that the replica has served. */
const countReads = async ({ probeUrl }: Gateway): Promise<number> => {
  const text = await (await fetch(`${probeUrl}/metrics`)).text()
  const [, count = '0'] = /^shutterfleet_replica_reads_total\{outcome="replica".*\} (\d+)$/m.exec(text) ?? []
  return Number(count)
}

const isUsed = async ({ probeUrl }: Gateway): Promise<boolean> =>
  /^shutterfleet_replica_used(\{.*\})? 1$/m.test(await (await fetch(`${probeUrl}/metrics`)).text())

/** Measures lists of one gateway that reads from the primary alone, and of one that reads from a streaming replica, in turns. */
export const measureReplicaReads = async (workload: ReplicaWorkload): Promise<ReplicaReading[]> => {
  const { rows, warmSeconds, seconds, perSecond } = workload
  await using opened = new AsyncDisposableStack()
  const served = opened.use(await startServed())
  const { database, postgres, startReplica } = served.gateway
  const clients = await createClients(database, accounts)
  const accountIds = clients.map(({ accountId }) => accountId)
  await fillCaptures(database, { accountIds, rows, newestDays: 0, oldestDays: 80 })
  const teardown = (clean: () => Promise<void>) => {
    opened.defer(clean)
  }
  // Does not wait for its disk, which is that of the primary: on its own it would be as quick.
  const replica = await startReplicaOf({ teardown }, database.url)
  const quiet = { LOG_LEVEL: 'error' }
  const gateways = {
    primary: await startReplica(0, quiet),
    replica: await startReplica(0, { ...quiet, DATABASE_REPLICA_URL: replica.url }),
  }
  const sender = opened.use(forkSender<Load, LoadResult>('load-process.ts'))
  const requests = clients.map(({ key }) => getRequest(key, `/v1/screenshots?per_page=${pageRows}`))
  const spent = ({ pid }: Gateway) => [postgres.pid, replica.pid, pid].map(cpuSeconds)
  const measure = async (from: 'primary' | 'replica', isSteady: boolean): Promise<ReplicaReading> => {
    const gateway = gateways[from]
    const load = { requests, connections, port: Number(new URL(gateway.baseUrl).port), ...(isSteady && { perSecond }) }
    await sender.send({ ...load, seconds: warmSeconds })
    if (from === 'replica') await eventually(() => isUsed(gateway), { what: 'the gateway reads from the replica' })
    const [before, readsBefore] = [spent(gateway), await countReads(gateway)]
    const result = await sender.send({ ...load, seconds })
    const after = spent(gateway)
    const [primary = 0, replicas = 0, own = 0] = after.map(
      (each, index) => ((each - (before[index] ?? 0)) * 1000) / result.answers,
    )
    const replicaShare = ((await countReads(gateway)) - readsBefore) / result.answers
    return { from, isSteady, result, replicaShare, cost: { primary, replica: replicas, gateway: own } }
  }
  return [
    await measure('primary', false),
    await measure('replica', false),
    await measure('primary', true),
    await measure('replica', true),
  ]
}
