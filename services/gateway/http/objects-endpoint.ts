import { createServer, type IncomingMessage, type Server } from 'node:http'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { boundConnections } from '#shared/config/bound-connections.ts'
import { serverBounds } from '#shared/config/server-bounds.ts'
import { type AppError, toAppError } from '#shared/errors/app-error.ts'
import type { FilesStore } from '#shared/storage/files-store.ts'
import type { Events } from '#gateway/telemetry/events.ts'
import { endSlowBodies } from './slow-bodies.ts'

/** Uploads at a time: workers are few, and one of them has a quarter. */
const connectionsMax = 2048
const prefix = '/objects/'

type Dependencies = {
  readonly files: Pick<FilesStore, 'mayPut' | 'beginUpload'>
  readonly objectBytesMax: number
  readonly events: Pick<Events, 'uploaded' | 'connectionRefused'>
}

class TooLarge extends Error {}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? ''

/** Codes of the errors of an upload whose client is gone. */
const aborts = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE']

const atMost = (bytesMax: number) => {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > bytesMax) done(new TooLarge())
      else done(null, chunk)
    },
  })
}

const upload = async (deps: Dependencies, key: string, request: IncomingMessage): Promise<number> => {
  if (Number(request.headers['content-length']) > deps.objectBytesMax) return 413
  const { sink, commit, abandon } = await deps.files.beginUpload(key)
  try {
    await pipeline(request, atMost(deps.objectBytesMax), sink)
  } catch (error) {
    await abandon()
    if (error instanceof TooLarge) return 413
    // An aborted upload has no client to respond to; its 400 is only counted.
    if (aborts.includes(codeOf(error))) return 400
    throw error
  }
  return (await commit()) ? 201 : 412
}

const serve = async (deps: Dependencies, request: IncomingMessage): Promise<number> => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://objects')
  if (!pathname.startsWith(prefix)) return 404
  if (request.method !== 'PUT') return 405
  const key = pathname.slice(prefix.length)
  const expires = searchParams.get('expires') ?? ''
  const signature = searchParams.get('signature') ?? ''
  return deps.files.mayPut(key, { expires, signature }) ? upload(deps, key, request) : 403
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && (['ENOSPC', 'EDQUOT'].includes(codeOf(error)) || isFull(error.cause))

/**
 * Serves the files driver's signed URLs: only `PUT /objects/<key>`. 201 stored, 403 unsigned or expired, 412 the key exists,
 * 413 too large, 507 the disk is full, 503 it failed otherwise. An aborted upload leaves nothing.
 */
export const createObjectsServer = (deps: Dependencies): Server => {
  const server = createServer(serverBounds, async (request, response) => {
    let cause: AppError | undefined
    const status = await serve(deps, request).catch((error: unknown) => {
      cause = toAppError(error)
      return isFull(error) ? 507 : 503
    })
    deps.events.uploaded(status, cause)
    response.writeHead(status, { 'content-length': '0' }).end()
  })
  boundConnections(server, { max: connectionsMax, refused: deps.events.connectionRefused })
  endSlowBodies(server)
  return server
}
