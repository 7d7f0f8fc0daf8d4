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
  const onward = httpRequest({ host: upstream.hostname, port: upstream.port, method, path, headers }, (answer) => {
    void delay(responseMs).then(() => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
  })
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

/** Starts a proxy in front of the store of an `SHUTTERFLEET_S3_URL`; `url` is the same through the proxy. */
export const startStoreProxy = async (storeUrl: string): Promise<StoreProxy> => {
  const upstream = new URL(storeUrl)
  let mode: StoreMode = 'pass'
  /** Uploaded keys: the small server of tests overwrites objects despite If-None-Match, which real stores heed. */
  const uploaded = new Set<string>()
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    request.on('error', () => {})
    const now = mode
    if (now === 'reset') return request.socket.resetAndDestroy()
    if (typeof now === 'object' && 'status' in now) {
      request.resume()
      await once(request, 'end')
      return response
        .writeHead(now.status, { 'content-type': 'application/xml' })
        .end('<Error><Code>Refused</Code></Error>')
    }
    if (typeof now === 'object' && 'waitMs' in now) await delay(now.waitMs)
    const key = request.url?.split('?')[0] ?? ''
    if (request.headers['if-none-match'] !== undefined && uploaded.has(key)) {
      request.resume()
      await once(request, 'end')
      return response.writeHead(412).end()
    }
    if (request.method === 'PUT' && now !== 'half') uploaded.add(key)
    const length = Number(request.headers['content-length'] ?? 0)
    const bytesMax = now === 'half' && request.method === 'PUT' ? Math.floor(length / 2) : Infinity
    const responseMs = typeof now === 'object' && 'responseMs' in now ? now.responseMs : 0
    return passOn({ upstream, bytesMax, responseMs }, request, response)
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
