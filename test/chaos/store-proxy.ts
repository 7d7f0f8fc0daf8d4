import { once } from 'node:events'
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** How the object store responds: with a status, by a reset, after half of the upload, or late. */
export type StoreMode = 'pass' | 'reset' | 'half' | { readonly status: number } | { readonly waitMs: number }

/** A proxy in front of an S3 server. */
export type StoreProxy = AsyncDisposable & { readonly url: string; readonly set: (mode: StoreMode) => void }

const passOn = (upstream: URL, request: IncomingMessage, response: ServerResponse, bytesMax: number) => {
  const onward = httpRequest(
    {
      host: upstream.hostname,
      port: upstream.port,
      method: request.method,
      path: request.url,
      headers: request.headers,
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    },
  )
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
    if (typeof now === 'object') await delay(now.waitMs)
    const length = Number(request.headers['content-length'] ?? 0)
    const bytesMax = now === 'half' && request.method === 'PUT' ? Math.floor(length / 2) : Infinity
    return passOn(upstream, request, response, bytesMax)
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
