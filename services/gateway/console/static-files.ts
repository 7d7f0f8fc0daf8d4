import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { AppError } from '#shared/errors/app-error.ts'
import { type Answer, isUnchanged } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'

/** The console's files stay in memory: far more than a build has. */
const bytesMax = 64 * 1024 * 1024

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Files beside an original that hold it compressed, smallest first: suffix and `Content-Encoding`. */
const codings = [
  ['.br', 'br'],
  ['.gz', 'gzip'],
] as const

type Variant = { readonly bytes: Buffer; readonly etag: string }
type StaticFile = Variant & { readonly compressed: ReadonlyMap<string, Variant> }

/** The files of the built console by their path, with `/` between folders. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

const isMissing = (error: unknown) => (error as { readonly code?: unknown }).code === 'ENOENT'

const toVariant = (bytes: Buffer): Variant => ({
  bytes,
  etag: `"${createHash('sha256').update(bytes).digest('hex')}"`,
})

/** Reads a built console; undefined if there is none. Throws `CONFIGURATION` if the folder has more than 64 MiB. */
export const readStaticFiles = async (folder: string): Promise<StaticFiles | undefined> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const variants = new Map<string, Variant>()
  let bytes = 0
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name)
    bytes += (await stat(path)).size
    if (bytes > bytesMax) throw new AppError('CONFIGURATION', { message: `${folder} has more than ${bytesMax} bytes` })
    variants.set(path.slice(join(folder, '/').length), toVariant(await readFile(path)))
  }
  const compressedOf = (path: string) =>
    new Map(
      codings.flatMap(([suffix, coding]) => {
        const variant = variants.get(path + suffix)
        return variant ? [[coding, variant] as const] : []
      }),
    )
  const originals = [...variants].filter(([path]) => extname(path) in types)
  const files = new Map(originals.map(([path, variant]) => [path, { ...variant, compressed: compressedOf(path) }]))
  return files.has(indexName) ? files : undefined
}

const indexName = 'index.html'

/** The files as they are served below a path, which their page names; their scripts find it by their own address. */
export const servedBelow = (files: StaticFiles, path: string): StaticFiles => {
  const page = files.get(indexName)
  if (path === '' || !page) return files
  const text = page.bytes.toString().replaceAll(/(?<=(?:href|src)=")(?=\/console\/)/g, path)
  return new Map([...files, [indexName, { ...toVariant(Buffer.from(text)), compressed: new Map() }]])
}

/** Whether an `Accept-Encoding` header contains a coding, unless with weight zero. */
const accepts = (header: string, coding: string): boolean =>
  header.split(',').some((each) => {
    const [name, ...parameters] = each
      .toLowerCase()
      .split(';')
      .map((part) => part.trim())
    return name === coding && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part))
  })

/** Nothing from elsewhere, nothing inline, in no frame; images made by scripts are `blob:` and `data:`. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const securityHeaders = {
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/** A year: the names of files in `assets/` contain a hash of their content. */
const immutable = 'public, max-age=31536000, immutable'

/** Returns a file of the console; its page for every path without a dot, which the page itself routes. Throws `NOT_FOUND`. */
export const answerStatic = (files: StaticFiles, path: string, exchange: Pick<Exchange, 'headers'>): Answer => {
  const name = path.includes('.') ? path : indexName
  const file = files.get(name)
  if (!file) throw new AppError('NOT_FOUND')
  const accepted = exchange.headers['accept-encoding'] ?? ''
  const [coding, compressed] = [...file.compressed].find(([each]) => accepts(accepted, each)) ?? []
  const { bytes, etag } = compressed ?? file
  const headers = {
    ...securityHeaders,
    etag,
    'cache-control': name.startsWith('assets/') ? immutable : 'no-cache',
    vary: 'Accept-Encoding',
  }
  if (isUnchanged(exchange.headers['if-none-match'], etag)) return { status: 304, headers }
  const type = types[extname(name)] ?? ''
  const about = {
    'content-type': type,
    'content-length': String(bytes.length),
    ...(coding && { 'content-encoding': coding }),
  }
  return { status: 200, headers: { ...headers, ...about }, body: bytes }
}
