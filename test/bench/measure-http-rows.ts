import { removeOldRows } from '#ledger/remove-old-rows.ts'
import { fillCaptures } from './fill-captures.ts'
import type { LoadResult } from './load.ts'
import { createClients, createRequest, getRequest, type Served, startServed } from './served.ts'

/** How accepting and listing go with a number of rows in the table. */
export type AtRows = { readonly rows: number; readonly accept: LoadResult; readonly list: LoadResult }

const accounts = 50
const connections = 32
const warmSeconds = 4
const seconds = 15
const pacedPerSecond = 300
const expiredRows = 100_000
const rowRetentionDays = 90

const measureAt = async ({ send }: Served, keys: readonly string[], rows: number): Promise<AtRows> => {
  const run = async (requests: readonly string[]) => {
    await send({ requests, connections, seconds: warmSeconds })
    return await send({ requests, connections, seconds })
  }
  const accept = await run(keys.map((key) => createRequest(key)))
  const list = await run(keys.map((key) => getRequest(key, '/v1/screenshots?per_page=20')))
  return { rows, accept, list }
}

/** Measures accepting and listing with twenty rows an account, and with `rows` in the table. */
export const measureRows = async (rows: number): Promise<AtRows[]> => {
  await using served = await startServed()
  const { database } = served.gateway
  const few: AtRows[] = []
  for (const count of [accounts * 20, rows]) {
    const clients = await createClients(database, accounts)
    const accountIds = clients.map(({ accountId }) => accountId)
    await database.query('truncate capture, capture_count, outbox')
    await fillCaptures(database, { accountIds, rows: count, newestDays: 0, oldestDays: 80 })
    const keys = clients.map(({ key }) => key)
    few.push(await measureAt(served, keys, count))
  }
  return few
}

/** Measures accepting at a steady rate alone, and while the ledger removes records that are over. */
export const measureRemoval = async (): Promise<{ alone: LoadResult; removing: LoadResult; removed: number }> => {
  await using served = await startServed()
  const { database } = served.gateway
  const clients = await createClients(database, accounts)
  const accountIds = clients.map(({ accountId }) => accountId)
  await fillCaptures(database, { accountIds, rows: expiredRows, newestDays: 91, oldestDays: 120 })
  const requests = clients.map(({ key }) => createRequest(key))
  const load = { requests, connections, perSecond: pacedPerSecond }
  await served.send({ ...load, seconds: warmSeconds })
  const alone = await served.send({ ...load, seconds })
  let removed = 0
  const rowsRemoved = (_table: string, count: number) => {
    removed += count
  }
  const stop = new AbortController()
  const remove = async () => {
    for (let left = expiredRows; left > 0 && !stop.signal.aborted; left = expiredRows - removed) {
      await removeOldRows({ database, events: { rowsRemoved } as never, rowRetentionDays })
    }
  }
  const removal = remove()
  const removing = await served.send({ ...load, seconds })
  stop.abort()
  await removal
  return { alone, removing, removed }
}
