// Measures the HTTP interface, all parts or those that are named. `--rows N` fills the table with fewer rows.
import { parseArgs } from 'node:util'
import { memoryText, ratesText, removalText, replicaText, routerText, rowsText, webhooksText } from './http-text.ts'
import { measureGatewayMemory } from './measure-http-memory.ts'
import { measureRates, ratesSettings } from './measure-http-rates.ts'
import { measureRemoval, measureRows } from './measure-http-rows.ts'
import { measureReplicaReads } from './measure-replica-reads.ts'
import { measureRouter } from './measure-router.ts'
import { measureDeliveries } from './measure-webhooks.ts'
import { madeBy } from './page.ts'
import { runProgram } from './run-parts.ts'
import { type Served, startServed } from './served.ts'

const options = { rows: { type: 'string', default: '5000000' } } as const
const { values, positionals: names } = parseArgs({ allowPositionals: true, options })
const rows = Number(values.rows)

const onServed = async <T>(measure: (served: Served) => Promise<T>, settings = {}): Promise<T> => {
  await using served = await startServed(settings)
  return await measure(served)
}

const ratesWorkload = { warmSeconds: 5, seconds: 60, shortSeconds: 12 }
const deliveriesWorkload = {
  deliveries: 10_000,
  steadySeconds: 15,
  slowDeliveries: 1500,
  waitingAccounts: 100_000,
  idleTakes: 101,
}
const removalWorkload = { expiredRows: 100_000, warmSeconds: 4, seconds: 15 }
const memoryWorkload = {
  requests: 100_000,
  sendSeconds: 5,
  downloads: 200,
  imageBytes: 20 * 2 ** 20,
  settleMs: 10_000,
  watchMs: 20_000,
}
const replicaWorkload = { rows: 100_000, warmSeconds: 4, seconds: 20, perSecond: 100 }
const routerWorkload = { warmSeconds: 4, seconds: 20, perSecond: 100 }

const parts = {
  rates: {
    heading: 'Requests to create a capture',
    measure: async () =>
      ratesText(await onServed((served) => measureRates(served, ratesWorkload), ratesSettings), ratesWorkload.seconds),
  },
  webhooks: {
    heading: 'The sender of webhooks',
    measure: async () => webhooksText(await measureDeliveries(deliveriesWorkload)),
  },
  removal: {
    heading: 'While rows are removed',
    measure: async () => removalText(await onServed((served) => measureRemoval(served, removalWorkload))),
  },
  memory: {
    heading: 'Memory of the gateway',
    measure: async () => memoryText(await measureGatewayMemory(memoryWorkload), memoryWorkload),
  },
  replica: {
    heading: 'Lists read from a replica',
    measure: async () => replicaText(await measureReplicaReads(replicaWorkload), replicaWorkload),
  },
  router: {
    heading: 'A router before the gateways',
    measure: async () => routerText(await measureRouter(routerWorkload), routerWorkload),
  },
  rows: {
    heading: 'With many rows',
    measure: async () =>
      rowsText(await onServed((served) => measureRows(served, { rows, warmSeconds: 4, seconds: 15 }))),
  },
}

await runProgram({ parts, names, footer: madeBy('bench-http') })
