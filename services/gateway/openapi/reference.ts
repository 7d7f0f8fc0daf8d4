import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError } from '#shared/errors/app-error.ts'
import type { JsonSchema } from '#shared/schema/fields.ts'

/** A static response body with its strong ETag. */
export type StaticDocument = { readonly bytes: Buffer; readonly etag: string }

/** The OpenAPI document, its HTML page, and the page's script and icon. */
export type Reference = ReturnType<typeof createReference>

/** Path of the script, without the version's prefix. */
export const scriptPath = '/docs/reference.js'

/** Its URLs are relative, to keep the path prefix of a reverse proxy. */
const pageOf = (title: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="icon" href="../favicon.ico" type="image/svg+xml" />
  </head>
  <body>
    <noscript>This page requires JavaScript. <a href="openapi.json">openapi.json</a> has the same content.</noscript>
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

/** Runs in a worker thread: otherwise it would block requests for half a second, and its modules would keep 60 MB. */
const makeScript = async (): Promise<StaticDocument> => {
  const thread = new Worker(new URL('main-reference-script.ts', import.meta.url))
  try {
    const [script] = (await once(thread, 'message', { signal: AbortSignal.timeout(scriptMs) })) as [Uint8Array]
    return toStatic(script)
  } catch (cause) {
    throw new AppError('SERVER_ERROR', { message: 'building the script of the reference failed', cause })
  } finally {
    await thread.terminate()
  }
}

/** Creates the reference. `describe` is called at the first request, because the public URL may be unavailable before. */
export const createReference = (describe: () => JsonSchema, title = 'Shutterfleet API reference') => {
  let document: StaticDocument | undefined
  let script: Promise<StaticDocument> | undefined
  const page = toStatic(pageOf(title))
  const icon = toStatic(readFileSync(join(import.meta.dirname, '../../shared/icon.svg')))
  const errors = toStatic(readFileSync(join(import.meta.dirname, 'errors.html')))
  return {
    document: (): StaticDocument => (document ??= toStatic(JSON.stringify(describe()))),
    page: () => page,
    icon: () => icon,
    /** The page with a section for each error code. */
    errors: () => errors,
    /** The gzipped script of the page. Throws `SERVER_ERROR` if it cannot be built. */
    script: async (): Promise<StaticDocument> => {
      script ??= makeScript()
      return await script.catch((error: unknown) => {
        script = undefined
        throw error
      })
    },
  }
}
