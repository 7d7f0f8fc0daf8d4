import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { families } from '#test/fixtures/gallery/families.ts'
import { galleryRoutes } from '#test/helpers/gallery.ts'
import { makeCertificate } from '#test/helpers/webhook-receiver.ts'
import { makeSite } from './pages.ts'

/** The benchmark's site, over plain HTTP and over TLS with HTTP/2; over plain HTTP with the pages of the gallery. */
export type Site = AsyncDisposable & {
  readonly httpHost: string
  readonly httpsHost: string
  /** PEM file of the certificate, for who is to trust it. */
  readonly certPath: string
}

/** What the responses of HTTP/1.1 and of HTTP/2 have in common. */
type Response = {
  statusCode: number
  readonly setHeader: (name: string, value: string | number) => unknown
  readonly end: (body: Buffer | string) => unknown
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
  const answer = ({ url = '' }: { readonly url?: string | undefined }, response: Response) => {
    const file = files.get(url.split('?')[0] ?? '')
    response.statusCode = file ? 200 : 404
    if (file) response.setHeader('content-type', file.type)
    if (file) response.setHeader('content-length', file.body.length)
    response.end(file?.body ?? '')
  }
  const [cert, key] = await Promise.all([readFile(certPath), readFile(keyPath)])
  const gallery = galleryRoutes(families.flatMap(({ pages }) => pages))
  const plain = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    if (files.has(path)) answer(request, response)
    else (gallery[path] ?? gallery['*'])?.(request, response)
  })
  const secure = createSecureServer({ cert, key, allowHTTP1: true }, answer)
  const hosts = { httpHost: await listen(plain), httpsHost: await listen(secure) }
  stack.defer(() => {
    plain.close()
    secure.close()
    plain.closeAllConnections()
  })
  const owned = stack.move()
  return { ...hosts, certPath, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
