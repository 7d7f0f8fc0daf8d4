import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

/** A web server of one test on a free port of loopback; `host` is `127.0.0.1:port`. */
export type TestServer = AsyncDisposable & { readonly host: string }

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.gif': 'image/gif',
}

/** Serves the files below `folder` as a static site. */
export const serveFolder = async (folder: string): Promise<TestServer> => {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site')
    const path = join(folder, normalize(decodeURIComponent(pathname)))
    const found = await stat(path).catch(() => undefined)
    if (!found?.isFile()) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>')
    response.writeHead(200, {
      'content-type': mediaTypes[extname(path)] ?? 'application/octet-stream',
      'content-length': found.size,
    })
    createReadStream(path).pipe(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
