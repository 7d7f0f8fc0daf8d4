import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { AppError } from '#shared/errors/app-error.ts'
import type { Contract } from './contract.ts'
import { openapiDocument } from './document.ts'

/** What is served as it is, with its strong validator. */
export type StaticDocument = { readonly bytes: Buffer; readonly etag: string }

/** The interface's own description, for machines and for people. */
export type Reference = ReturnType<typeof createReference>

/** Where the script is, below the version's prefix. */
export const scriptPath = '/docs/reference.js'

/** Its addresses are relative, so that the prefix of a proxy in front stays. */
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Shutterfleet API reference</title>
  </head>
  <body>
    <noscript>This page needs JavaScript. <a href="openapi.json">openapi.json</a> says the same.</noscript>
    <div id="reference"></div>
    <script src="docs/reference.js"></script>
  </body>
</html>
`

const scriptMs = 60_000

const toStatic = (content: string | Uint8Array): StaticDocument => {
  const bytes = Buffer.from(content)
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('hex')}"` }
}

/** In a thread of its own: requests would wait for half a second, and what it loads, 60 MB, would stay. */
const makeScript = async (): Promise<StaticDocument> => {
  const thread = new Worker(new URL('main-reference-script.ts', import.meta.url))
  try {
    const [script] = (await once(thread, 'message', { signal: AbortSignal.timeout(scriptMs) })) as [Uint8Array]
    return toStatic(script)
  } catch (cause) {
    throw new AppError('SERVER_ERROR', { message: 'the script of the reference cannot be made', cause })
  } finally {
    await thread.terminate()
  }
}

/** Describes the operations. `publicUrl` is read at the first request: it may not be known before. */
export const createReference = (operations: readonly Contract[], publicUrl: () => string) => {
  let document: StaticDocument | undefined
  let script: Promise<StaticDocument> | undefined
  const pageOnce = toStatic(page)
  return {
    document: (): StaticDocument => (document ??= toStatic(JSON.stringify(openapiDocument(operations, publicUrl())))),
    page: () => pageOnce,
    /** The script of the page, compressed by gzip. Throws `SERVER_ERROR` where it cannot be made. */
    script: async (): Promise<StaticDocument> => {
      script ??= makeScript()
      return await script.catch((error: unknown) => {
        script = undefined
        throw error
      })
    },
  }
}
