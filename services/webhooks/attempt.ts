import { type Agent, type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import type { Failure } from '#shared/errors/delivery-failures.ts'
import { NoConnection, type Outcome } from './outcome.ts'
import type { ToReceiver } from './receiver-agent.ts'

/** What is sent, to whom. */
export type Post = {
  readonly accountId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What is read of an answer's body: enough for the connection to be used again after a usual one. */
const answerBytesMax = 16_384

/** A user and password in the address are sent as any client does; what is not percent-encoded goes as it stands. */
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

const requestOf = ({ accountId, url: text, headers, body }: Post, agent: Agent): ToReceiver => {
  const url = new URL(text)
  return {
    agent,
    accountId,
    method: 'POST',
    host: url.hostname.replaceAll(/[[\]]/g, '').replace(/\.$/, ''),
    port: Number(url.port || 443),
    path: url.pathname + url.search,
    headers: {
      host: url.host,
      'user-agent': 'Shutterfleet-Webhooks',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...authorization(url),
      ...headers,
    },
  }
}

const judge = (status: number): Failure | null => {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}

const failureOf = (error: NodeJS.ErrnoException): Failure | 'not_tried' => {
  if (error instanceof NoConnection) return error.reason
  return error.code?.startsWith('HPE_') ? 'bad_answer' : 'connection_failed'
}

/** Reads an answer to its end, or as much of it as is wanted. Rejects where it breaks off. */
const readAnswer = async (response: IncomingMessage): Promise<void> => {
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > answerBytesMax) return
  }
}

const readResponse = (request: ClientRequest, answerMs: number): Promise<Outcome> =>
  new Promise((resolve) => {
    let status: number | null = null
    let timer: NodeJS.Timeout | undefined
    const end = (failure: Failure | null | 'not_tried') => {
      clearTimeout(timer)
      resolve(failure === 'not_tried' ? failure : { status, failure })
    }
    // The wait for a connection has a bound of its own.
    request.once('socket', () => {
      timer = setTimeout(() => {
        end('timeout')
        request.destroy()
      }, answerMs)
    })
    request.on('error', (error) => end(failureOf(error)))
    request.once('response', (response) => {
      status = response.statusCode ?? 0
      const verdict = judge(status)
      readAnswer(response).then(
        () => end(verdict),
        () => end('connection_failed'),
      )
    })
  })

/** One POST to a receiver over the agent's connections, whose answer comes within `answerMs` once there is one. Redirects are not followed. Never throws. */
export const attempt = async (
  { agent, answerMs }: { readonly agent: Agent; readonly answerMs: number },
  post: Post,
): Promise<Outcome> => {
  // A receiver may close a kept connection just when it is used again; one that then begins anew is the same attempt.
  for (;;) {
    const request = openRequest(requestOf(post, agent))
    const response = readResponse(request, answerMs)
    request.end(post.body)
    const outcome = await response
    const wasStale = outcome !== 'not_tried' && outcome.status === null && outcome.failure === 'connection_failed'
    if (!(wasStale && request.reusedSocket)) return outcome
  }
}
