import { once } from 'node:events'
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** How the object store responds: with a status, by a reset, after half of the upload, late, or at once but with a late response. */
export type StoreMode =
  | 'pass'
  | 'reset'
  | 'half'
  | { readonly status: number }
  | { readonly waitMs: number }
  | { readonly responseMs: number }

/** A proxy in front of an S3 server. */
export type StoreProxy = AsyncDisposable & { readonly url: string; readonly set: (mode: StoreMode) => void }

type Bounds = { readonly upstream: URL; readonly bytesMax: number; readonly responseMs: number }

const passOn = ({ upstream, bytesMax, responseMs }: Bounds, request: IncomingMessage, response: ServerResponse) => {
  const { method, url: path, headers } = request
  const answerLate = async (answer: IncomingMessage) => {
    await delay(responseMs)
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  }
  const to = { host: upstream.hostname, port: upstream.port, method, path, headers }
  const onward = httpRequest(to, (answer) => void answerLate(answer))
  onward.on('error', () => response.destroy())
  response.on('close', () => onward.destroy())
  let bytes = 0
  request.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes <= bytesMax) return void onward.write(part)
    onward.write(part.subarray(0, Math.max(0, part.length - (bytes - bytesMax))))
    onward.destroy()
    return response.destroy()
  })
  request.on('end', () => onward.end())
}

const refuse = async (status: number, request: IncomingMessage, response: ServerResponse) => {
  request.resume()
  await once(request, 'end')
  response.writeHead(status, { 'content-type': 'application/xml' }).end('<Error><Code>Refused</Code></Error>')
}

/** What a mode means for a request that the store gets. */
const boundsOf = (mode: StoreMode, { method, headers }: IncomingMessage) => {
  const isSlow = typeof mode === 'object' && !('status' in mode)
  const { waitMs = 0, responseMs = 0 }: { waitMs?: number; responseMs?: number } = isSlow ? mode : {}
  const isHalf = method === 'PUT' && mode === 'half'
  return { waitMs, responseMs, bytesMax: isHalf ? Math.floor(Number(headers['content-length']) / 2) : Infinity }
}

/** Starts a proxy in front of the store of an `SHUTTERFLEET_S3_URL`; `url` is the same through the proxy. */
export const startStoreProxy = async (storeUrl: string): Promise<StoreProxy> => {
  const upstream = new URL(storeUrl)
  let mode: StoreMode = 'pass'
  /** Uploaded keys: the small server of tests overwrites objects despite If-None-Match, which real stores heed. */
  const uploaded = new Set<string>()
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    request.on('error', () => {})
    const now = mode
    if (now === 'reset') return void request.socket.resetAndDestroy()
    if (typeof now === 'object' && 'status' in now) return refuse(now.status, request, response)
    const { waitMs, ...bounds } = boundsOf(now, request)
    await delay(waitMs)
    if (request.method === 'PUT') {
      const key = request.url?.split('?')[0] ?? ''
      if (uploaded.has(key)) {
        await delay(bounds.responseMs)
        return refuse(412, request, response)
      }
      if (bounds.bytesMax === Infinity) uploaded.add(key)
    }
    passOn({ upstream, ...bounds }, request, response)
  }
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(storeUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    set: (next) => {
      mode = next
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
