import { startRouter } from '#test/helpers/running-router.ts'
import { cpuSeconds } from './cpu-seconds.ts'
import { forkSender } from './fork-sender.ts'
import type { Load, LoadResult } from './load.ts'
import { createClients, createRequest, getRequest, type Served, startServed } from './served.ts'

const accounts = 25
const connections = 16

/** For how long each load is sent, of which `warmSeconds` do not count, and how many requests a second. */
export type RouterWorkload = { readonly warmSeconds: number; readonly seconds: number; readonly perSecond: number }

/** How requests of one kind go, to one gateway or over a router to two cells, and processor milliseconds for each. */
export type RouterReading = {
  readonly name: string
  readonly isRouted: boolean
  readonly result: LoadResult
  readonly cost: { readonly router: number; readonly gateways: number; readonly postgres: number }
}

const requestsOf = (keys: readonly string[]) => ({
  'an account read': keys.map((key) => getRequest(key, '/v1/account')),
  'a capture accepted': keys.map((key) => createRequest(key)),
  'the OpenAPI document, 0.3 MB': keys.map((key) => getRequest(key, '/v1/openapi.json')),
})

/** Measures requests to a gateway of one installation, and over a router to two, in turns. */
export const measureRouter = async ({ warmSeconds, seconds, perSecond }: RouterWorkload): Promise<RouterReading[]> => {
  await using opened = new AsyncDisposableStack()
  const teardown = (clean: () => Promise<void>) => {
    opened.defer(clean)
  }
  const cells: Served[] = []
  for (let cell = 0; cell < 2; cell += 1) cells.push(opened.use(await startServed()))
  const keys = await Promise.all(
    cells.map(async ({ gateway: { database } }) => (await createClients(database, accounts)).map(({ key }) => key)),
  )
  const [first = '', second = ''] = cells.map(({ gateway }) => gateway.baseUrl)
  const router = await startRouter({ teardown }, { one: first, two: second })
  const sender = opened.use(forkSender<Load, LoadResult>('load-process.ts'))
  const spent = () => ({
    router: cpuSeconds(router.pid),
    gateways: cells.reduce((sum, { gateway }) => sum + cpuSeconds(gateway.pid), 0),
    postgres: cells.reduce((sum, { gateway }) => sum + cpuSeconds(gateway.postgres.pid), 0),
  })
  const measure = async (name: string, isRouted: boolean, requests: readonly string[]): Promise<RouterReading> => {
    const port = Number(new URL(isRouted ? router.baseUrl : first).port)
    const load = { requests, connections, port, perSecond }
    await sender.send({ ...load, seconds: warmSeconds })
    const before = spent()
    const result = await sender.send({ ...load, seconds })
    const after = spent()
    const costOf = (part: keyof typeof before) => ((after[part] - before[part]) * 1000) / result.answers
    return {
      name,
      isRouted,
      result,
      cost: { router: costOf('router'), gateways: costOf('gateways'), postgres: costOf('postgres') },
    }
  }
  const readings: RouterReading[] = []
  const direct = requestsOf(keys[0] ?? [])
  // Of both cells in turn.
  const routed = requestsOf((keys[0] ?? []).flatMap((key, index) => [key, keys[1]?.[index] ?? key]))
  for (const name of Object.keys(direct) as (keyof typeof direct)[]) {
    readings.push(await measure(name, false, direct[name]), await measure(name, true, routed[name]))
  }
  return readings
}
