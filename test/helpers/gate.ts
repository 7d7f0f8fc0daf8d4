import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A web server that holds its pages until the test opens it, so that a test can act during a capture. */
export type Gate = AsyncDisposable & {
  readonly host: string
  /** Number of page requests held at this moment. */
  readonly held: () => number
  /** Number of page requests so far. */
  readonly requestCount: () => number
  /** Serves held requests, and all later ones immediately. */
  readonly open: () => void
}

const page = '<!doctype html><title>Held</title><body style="background:#8ecae6"><h1>Let go</h1>'

/** Starts the server on a free port of loopback. */
export const startGate = async (): Promise<Gate> => {
  const waiting = new Set<ServerResponse>()
  let requestCount = 0
  let isOpen = false
  const answer = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  const server = createServer((request, response) => {
    if (request.url === '/favicon.ico') return void response.writeHead(404).end()
    requestCount += 1
    if (isOpen) return void answer(response)
    waiting.add(response)
    response.on('close', () => waiting.delete(response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    held: () => waiting.size,
    requestCount: () => requestCount,
    open: () => {
      isOpen = true
      for (const response of waiting) answer(response)
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
