import { type Agent, type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import type { Readable } from 'node:stream'
import type { Failure } from '#shared/errors/delivery-failures.ts'
import { startDeadline } from '#shared/config/stalls.ts'
import { requestedWaitMs } from './next-attempt.ts'
import { NoConnection, type Outcome } from './outcome.ts'
import type { ReceiverRequestOptions } from './receiver-agent.ts'

/** A body that is read from the object store while it is sent. `open`: undefined if it is not there; throws if the store fails. */
type StreamedBody = { readonly bytes: number; readonly open: () => Promise<Readable | undefined> }

/** The request to send. */
export type Post = {
  readonly accountId: string
  readonly method?: 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | StreamedBody
}

/**
 * A receiver may close a kept connection just when it is reused: another try is part of the same attempt. Or it may close it because of what
 * it received, which is not sent to all that are kept.
 */
const staleMax = 3

/** Most bytes that are read of a response body: enough to reuse the connection after a usual one. */
const bodyBytesMax = 16_384

/** Sends a user and password of the URL as Basic authentication; invalid percent-encoding is sent unchanged. */
const authorization = ({ username, password }: URL): Record<string, string> => {
  if (username === '' && password === '') return {}
  const decode = (text: string) => {
    try {
      return decodeURIComponent(text)
    } catch {
      return text
    }
  }
  const credentials = Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64')
  return { authorization: `Basic ${credentials}` }
}

const toRequest = (
  { accountId, method = 'POST', url: text, headers, body }: Post,
  agent: Agent,
): ReceiverRequestOptions => {
  const url = new URL(text)
  return {
    agent,
    accountId,
    method,
    host: url.hostname.replaceAll(/[[\]]/g, '').replace(/\.$/, ''),
    port: Number(url.port || 443),
    path: url.pathname + url.search,
    headers: {
      host: url.host,
      'user-agent': 'Shutterfleet-Webhooks',
      'content-type': 'application/json',
      'content-length': typeof body === 'string' ? Buffer.byteLength(body) : body.bytes,
      ...authorization(url),
      ...headers,
    },
  }
}

const failureOfStatus = (status: number): Failure | null => {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}

const classifyFailure = (error: NodeJS.ErrnoException): Failure | 'not_tried' => {
  if (error instanceof NoConnection) return error.reason
  return error.code?.startsWith('HPE_') ? 'bad_answer' : 'connection_failed'
}

/** Most characters of an answer that are kept. */
const answerMax = 200

/** The code of an S3 store's error, else the first line of a body, without control characters. */
const firstLine = (body: string): string => {
  const code = /<Code>(?<code>\w{1,64})<\/Code>/.exec(body)?.groups?.['code']
  const [line = ''] = body.trimStart().split(/[\r\n]/, 1)
  return code ?? line.replaceAll(/\p{Cc}/gu, ' ').slice(0, answerMax)
}

/** Reads a response to its end, or until `bodyBytesMax` are exceeded, and returns its first line. Rejects if it is interrupted. */
const readBody = async (response: IncomingMessage): Promise<string> => {
  let bytes = 0
  let first: Buffer = Buffer.of()
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (first.length === 0) first = chunk.subarray(0, 1024)
    if (bytes > bodyBytesMax) break
  }
  return firstLine(first.toString())
}

const readResponse = (request: ClientRequest, answerMs: number): Promise<Outcome> =>
  new Promise((resolve) => {
    let status: number | null = null
    let deadline: Disposable | undefined
    let requestedMs = 0
    const end = (failure: Failure | null | 'not_tried', answer = '') => {
      deadline?.[Symbol.dispose]()
      const more = { ...(requestedMs > 0 && { requestedMs }), ...(failure !== null && answer !== '' && { answer }) }
      resolve(failure === 'not_tried' ? failure : { status, failure, ...more })
    }
    // The wait for a connection has its own bound.
    request.once('socket', () => {
      deadline = startDeadline(answerMs, () => {
        end('timeout')
        request.destroy()
      })
    })
    request.on('error', (error) => end(classifyFailure(error)))
    request.once('response', (response) => {
      status = response.statusCode ?? 0
      const failure = failureOfStatus(status)
      if (failure !== null) requestedMs = requestedWaitMs(response.headers['retry-after'], new Date())
      readBody(response).then(
        (answer) => end(failure, answer),
        () => end('connection_failed'),
      )
    })
  })

/** Sends the body, then waits for the outcome. A store that fails meanwhile is no fault of the receiver. */
const exchange = async (request: ClientRequest, body: string | Readable, answerMs: number): Promise<Outcome> => {
  const response = readResponse(request, answerMs)
  if (typeof body === 'string') {
    request.end(body)
    return response
  }
  let isBroken = false
  body.once('error', () => {
    isBroken = true
    request.destroy()
  })
  body.pipe(request)
  const outcome = await response
  body.destroy()
  // Refused before it was read to its end.
  if (!request.writableFinished) request.destroy()
  return isBroken ? 'not_tried' : outcome
}

/**
 * Sends a request over the agent's connections; times out `answerMs` after it has one. Follows no redirects. `not_tried` if
 * `open` of the body throws; throws if the request is not valid.
 */
export const attempt = async (
  { agent, answerMs }: { readonly agent: Agent; readonly answerMs: number },
  post: Post,
): Promise<Outcome> => {
  const options = toRequest(post, agent)
  for (let tries = 1; ; tries += 1) {
    const body = typeof post.body === 'string' ? post.body : await post.body.open().catch(() => null)
    if (body === null) return 'not_tried'
    if (body === undefined) return { status: null, failure: 'image_missing' }
    const request = openRequest(options)
    const outcome = await exchange(request, body, answerMs)
    const wasStale = outcome !== 'not_tried' && outcome.status === null && outcome.failure === 'connection_failed'
    if (!(wasStale && request.reusedSocket) || tries === staleMax) return outcome
  }
}
