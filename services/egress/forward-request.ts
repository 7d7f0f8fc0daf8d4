import { type ClientRequest, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { type Bounded, boundConnection } from './bound-connection.ts'
import { captureOf } from './capture-of.ts'
import type { Egress } from './context.ts'
import { endToEndHeaders } from './end-to-end-headers.ts'
import { parseAbsolute, type PlainTarget } from './parse-target.ts'
import { reach } from './reach.ts'
import { refuseRequest } from './refuse.ts'

/** Most bytes of the headers of one message, either way. */
export const headerBytesMax = 65_536

/** One plain request on its way: the connection to its target and the bounds on that. */
type Passage = { readonly target: PlainTarget; readonly upstream: Socket; readonly bounded: Bounded }

/** The target hears the host of the address, never the client's `Host`; a body without a length stays chunked. */
const headersFor = (request: IncomingMessage, { hostHeader }: PlainTarget): string[] => {
  const chunked = request.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']
  return ['Host', hostHeader, ...endToEndHeaders(request.rawHeaders, ['host']), ...chunked]
}

/** The head of the answer. A target that switches protocols unasked is at fault: nobody would read what follows. */
const headOf = (outgoing: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy()
      reject(new Error('the target switched protocols'))
    })
  })

/** Sends the request and waits for the head of the answer. Throws `TIMEOUT` or `CONNECTION_FAILED`. */
const send = async (request: IncomingMessage, { target, upstream, bounded }: Passage): Promise<IncomingMessage> => {
  try {
    const outgoing = openRequest({
      createConnection: () => upstream,
      method: request.method,
      path: target.path,
      headers: headersFor(request, target),
      maxHeaderSize: headerBytesMax,
    })
    // After the answer has begun, a body that the target no longer reads breaks off: the answer decides.
    outgoing.on('error', () => {})
    request.pipe(outgoing)
    bounded.count(request)
    return await headOf(outgoing)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('CONNECTION_FAILED', { message: 'the target did not answer in HTTP', cause })
  }
}

/** Writes the answer back; resolves to whether it broke off. */
const writeAnswer = async (answer: IncomingMessage, response: ServerResponse, bounded: Bounded): Promise<boolean> => {
  response.sendDate = false
  // A client whose body was not read to its end cannot use its connection again.
  const closing = response.req.complete ? [] : ['Connection', 'close']
  const { statusCode = 502, statusMessage, rawHeaders } = answer
  response.writeHead(statusCode, statusMessage, [...endToEndHeaders(rawHeaders), ...closing])
  const carried = pipeline(answer, response)
  bounded.count(answer)
  return carried.then(
    () => false,
    () => true,
  )
}

/**
 * Serves one plain request on a connection of its own, or refuses it. Resolves when the answer is over; never throws.
 * An upgrade is not passed on: browsers send CONNECT for WebSockets.
 */
export const forwardRequest = async (
  egress: Egress,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const seen = { kind: 'request', capture: captureOf(request) } as const
  let target: PlainTarget | undefined
  try {
    target = parseAbsolute(request.url ?? '')
    const upstream = await reach(egress, target, request.socket.localPort ?? 0)
    if (response.destroyed) upstream.destroy()
    else response.once('close', () => upstream.destroy())
    const bounded = boundConnection(upstream, egress.bounds.connectionBytesMax)
    egress.events.opened({ ...seen, host: target.host })
    const answer = await send(request, { target, upstream, bounded })
    const broken = await writeAnswer(answer, response, bounded)
    egress.events.ended({ ...seen, host: target.host }, bounded.passed(broken))
  } catch (thrown) {
    const error = toAppError(thrown)
    egress.events.refused({ ...seen, host: target?.host }, error)
    refuseRequest(response, error)
  }
}
