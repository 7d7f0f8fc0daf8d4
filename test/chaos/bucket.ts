import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { listening } from '#test/helpers/egress-filter.ts'
import type { Certificate } from '#test/helpers/webhook-receiver.ts'
import { sha256 } from './history.ts'

/** A whole object that somebody wrote. */
export type Written = { readonly key: string; readonly sha256: string }

/** A bucket of a caller over TLS. `url`: without a slash at its end. */
export type Bucket = AsyncDisposable & {
  readonly port: number
  readonly url: string
  /** Called for each object; returns the status of the response. */
  readonly answer: (respond: (written: Written, nth: number) => number) => void
}

const name = 'chaos'

/** Starts a bucket that stores nothing. It refuses bytes that differ from the digest in the signature, as a store does. */
export const startBucket = async ({ certPath, keyPath }: Certificate): Promise<Bucket> => {
  let respond: (written: Written, nth: number) => number = () => 200
  const times = new Map<string, number>()
  const tls = { cert: await readFile(certPath), key: await readFile(keyPath) }
  const server = createServer(tls, async (request, response) => {
    const key = (request.url ?? '').slice(`/${name}/`.length)
    const digest = await buffer(request).then(sha256, () => undefined)
    // Its sender is gone.
    if (digest === undefined) return response.destroy()
    if (request.method !== 'PUT' || digest !== request.headers['x-amz-content-sha256'])
      return response.writeHead(400).end()
    const nth = (times.get(key) ?? 0) + 1
    times.set(key, nth)
    return response.writeHead(respond({ key, sha256: digest }, nth), { etag: `"${digest}"` }).end()
  })
  const running = await listening(server)
  return {
    port: running.port,
    url: `https://127.0.0.1:${running.port}/${name}`,
    answer: (next) => {
      respond = next
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  }
}
