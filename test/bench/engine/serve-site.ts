import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { makeCertificate } from '#test/helpers/webhook-receiver.ts'
import { makeSite } from './pages.ts'

/** The benchmark's site, over plain HTTP and over TLS with HTTP/2. */
export type Site = AsyncDisposable & {
  readonly httpHost: string
  readonly httpsHost: string
  /** PEM file of the certificate, for who is to trust it. */
  readonly certPath: string
}

const listen = async (server: Server | Http2SecureServer): Promise<string> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Serves the site on two free ports of loopback. */
export const serveSite = async (): Promise<Site> => {
  await using stack = new AsyncDisposableStack()
  const files = await makeSite()
  const certificate = stack.use(await makeCertificate(['localhost']))
  const { certPath, keyPath } = certificate
  const answer = (request: IncomingMessage | Http2ServerRequest, response: ServerResponse & Http2ServerResponse) => {
    const file = files.get((request.url ?? '').split('?')[0] ?? '')
    if (!file) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': file.type, 'content-length': file.body.length })
    response.end(file.body)
  }
  const [cert, key] = await Promise.all([readFile(certPath), readFile(keyPath)])
  const plain = createServer(answer as never)
  const secure = createSecureServer({ cert, key, allowHTTP1: true }, answer as never)
  const hosts = { httpHost: await listen(plain), httpsHost: await listen(secure) }
  stack.defer(() => {
    plain.close()
    secure.close()
    plain.closeAllConnections()
  })
  const owned = stack.move()
  return { ...hosts, certPath, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
