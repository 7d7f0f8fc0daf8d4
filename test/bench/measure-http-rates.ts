import { setTimeout as delay } from 'node:timers/promises'
import type { LoadResult } from './load.ts'
import { type Cost, createClients, createRequest, type Served } from './served.ts'

/** One kind of request, and how it went. */
export type Rate = {
  readonly name: string
  readonly result: LoadResult & { readonly cost: Cost }
  /** What the issue of the interface asks for. */
  readonly bound: string
}

const connections = 32
const accounts = 50
const pacedPerSecond = 300
const minuteMs = 60_000
const unknownKey = `sk_live_${'a1B2'.repeat(10)}`

/** So that a measurement of `seconds` lies in one minute. */
const awaitMinute = async (seconds: number) => {
  const left = minuteMs - (Date.now() % minuteMs)
  if (left < (seconds + 1) * 1000) await delay(left + 100)
}

const measureRefusals = async ({ gateway, send }: Served, keys: readonly string[], seconds: number) => {
  const limited = await createClients(gateway.database, accounts, { slug: 'limited', rate_limit_per_minute: 1 })
  const run = (requests: readonly string[]) => send({ requests, connections, seconds })
  const malformed = await run([createRequest('sk_live_short')])
  const unknown = await run([createRequest(unknownKey)])
  const invalid = await run(keys.map((key) => createRequest(key, { url: 'https://example.com/', width: 1 })))
  await awaitMinute(seconds + 1)
  const used = limited.map(({ key }) => createRequest(key))
  await send({ requests: used, connections, seconds: 1 })
  const exhausted = await run(used)
  return [
    { name: '401: a key of the wrong form', result: malformed, bound: '8,000' },
    { name: '401: an unknown key', result: unknown, bound: '8,000' },
    { name: '429: in a minute that is known to be used up', result: exhausted, bound: '8,000' },
    { name: '422: a value outside its bounds', result: invalid, bound: '2,000' },
  ]
}

/** For how long each kind of request is sent; accepting longer than the others. */
export type RatesWorkload = { readonly warmSeconds: number; readonly seconds: number; readonly shortSeconds: number }

/**
 * What a gateway needs to be measured: all captures are admitted, and published, though no worker takes any; and each unknown key
 * is looked up, though all come from one address.
 */
export const ratesSettings = { WINDOW_CAPTURES: '10000', KEY_FAILURES_PER_MINUTE: '1000000' }

/** Measures what one gateway accepts and refuses a second. */
export const measureRates = async (served: Served, workload: RatesWorkload): Promise<Rate[]> => {
  const { warmSeconds, seconds, shortSeconds } = workload
  const clients = await createClients(served.gateway.database, accounts)
  const keys = clients.map(({ key }) => key)
  const requests = keys.map((key) => createRequest(key))
  await served.send({ requests, connections, seconds: warmSeconds })
  const sustained = await served.send({ requests, connections, seconds })
  const paced = await served.send({ requests, connections, seconds: shortSeconds, perSecond: pacedPerSecond })
  const alone = await served.send({ requests: requests.slice(0, 1), connections, seconds: shortSeconds })
  return [
    { name: `202: ${accounts} accounts, as fast as it goes`, result: sustained, bound: '1,200' },
    { name: `202: ${accounts} accounts, ${pacedPerSecond} per second`, result: paced, bound: 'p99 25 ms' },
    { name: '202: one account alone', result: alone, bound: '' },
    ...(await measureRefusals(served, keys, shortSeconds)),
  ]
}
