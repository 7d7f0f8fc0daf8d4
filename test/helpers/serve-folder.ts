import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
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
  '.woff2': 'font/woff2',
}

/** Sends the file at `path`, URL-encoded, below `folder`. */
export const sendFile = async (folder: string, path: string, response: ServerResponse): Promise<void> => {
  const file = join(folder, normalize(decodeURIComponent(path)))
  const found = await stat(file).catch(() => undefined)
  if (!found?.isFile()) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>')
  response.writeHead(200, {
    'content-type': mediaTypes[extname(file)] ?? 'application/octet-stream',
    'content-length': found.size,
  })
  createReadStream(file).pipe(response)
}

/** Serves the files below `folder` as a static site. */
export const serveFolder = async (folder: string): Promise<TestServer> => {
  const server = createServer((request, response) =>
    sendFile(folder, new URL(request.url ?? '/', 'http://site').pathname, response),
  )
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
