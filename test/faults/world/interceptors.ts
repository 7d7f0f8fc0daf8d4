import type { KubeConnection, KubeRequest } from '#shared/kube/connection.ts'
import type { Incoming, Queue } from '#shared/queue/connection.ts'
import type { SimulatedProcess } from '#test/helpers/simulated-process.ts'

type Send = KubeConnection['send']

/** The process whose requests and messages are changed. */
export type InterceptedProcess = { readonly process: SimulatedProcess; readonly queue: Queue }

/** Changes the controllers' requests and received messages, or the workers' behaviour. */
export type Interceptors = {
  readonly send?: (send: Send, of: InterceptedProcess) => Send
  readonly queue?: (queue: Queue) => Queue
  /** Whether workers acknowledge a capture when it begins instead of at its end. */
  readonly acknowledgesEarly?: boolean
}

/** Changes requests before they are sent. */
export const changingRequests =
  (change: (request: KubeRequest) => KubeRequest): NonNullable<Interceptors['send']> =>
  (send) =>
  (request) =>
    send(change(request))

/** Changes the text of responses to reads: of a whole response, or of each line of a watch. */
export const changingText =
  (
    isMeant: (request: KubeRequest) => boolean,
    change: (text: string, process: SimulatedProcess) => string,
  ): NonNullable<Interceptors['send']> =>
  (send, { process }) =>
  async (request) => {
    const answer = await send(request)
    if (request.method !== 'GET' || !isMeant(request)) return answer
    return { ...answer, body: changed(answer.body, (text) => change(text, process)) }
  }

async function* changed(body: AsyncIterable<Buffer>, change: (text: string) => string): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield Buffer.from(change(chunk.toString()))
}

/** Changes messages before they are delivered. */
export const changingMessages =
  (change: (message: Incoming) => Incoming): NonNullable<Interceptors['queue']> =>
  (queue) => ({ ...queue, subscribe: (filter, take) => queue.subscribe(filter, (message) => take(change(message))) })

/** The request with another body. */
export const withBody = (request: KubeRequest, change: (body: Record<string, unknown>) => object): KubeRequest => {
  const { type = '', text = '{}' } = request.body ?? {}
  return { ...request, body: { type, text: JSON.stringify(change(JSON.parse(text) as Record<string, unknown>)) } }
}
