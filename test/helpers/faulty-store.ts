import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** What the store does with a PUT: a status to refuse it with, a broken connection, no response at all, or undefined: stores it. */
export type Fault = number | 'reset' | 'freeze' | undefined

/** A bucket in memory whose PUTs can be made to fail; does not verify signatures. */
export type FaultyStore = AsyncDisposable & {
  readonly url: string
  /** Number of PUTs so far. */
  readonly puts: () => number
  /** Keys of the stored objects. */
  readonly keys: () => readonly string[]
  /** Decides on each PUT from now on. */
  readonly fail: (faultOf: (key: string) => Fault) => void
  /** Stores everything from now on, frozen PUTs included. */
  readonly heal: () => void
}

/** Starts a bucket on a free port. */
export const startFaultyStore = async (): Promise<FaultyStore> => {
  const objects = new Map<string, Buffer>()
  let puts = 0
  let faultOf: (key: string) => Fault = () => undefined
  let healed = Promise.withResolvers<void>()

  const put = async (key: string, request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    puts += 1
    const fault = faultOf(key)
    const body = await buffer(request)
    if (fault === 'reset') return response.destroy()
    if (fault === 'freeze') await healed.promise
    else if (fault !== undefined) return response.writeHead(fault).end()
    if (objects.has(key)) return response.writeHead(412).end()
    objects.set(key, body)
    return response.writeHead(200).end()
  }
  const server = createServer((request, response) => {
    const key = new URL(request.url ?? '', 'http://store').pathname.replace('/images/', '')
    if (request.method === 'PUT') return void put(key, request, response).catch(() => {})
    const found = objects.get(key)
    const head = { 'last-modified': new Date(0).toUTCString(), etag: '"0"', 'content-length': found?.length ?? 0 }
    response.writeHead(found ? 200 : 404, head).end(request.method === 'GET' ? found : undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://K:S@127.0.0.1:${(server.address() as AddressInfo).port}/images`,
    puts: () => puts,
    keys: () => [...objects.keys()],
    fail: (next) => {
      faultOf = next
      healed = Promise.withResolvers<void>()
    },
    heal: () => {
      faultOf = () => undefined
      healed.resolve()
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
