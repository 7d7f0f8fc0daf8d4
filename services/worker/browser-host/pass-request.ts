import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { endToEndHeaders } from '#shared/net/end-to-end-headers.ts'
import { askEgress, refusalIn } from './ask-egress.ts'
import type { Traffic } from './traffic.ts'

/** A browser's plain request and what it is to be answered with. */
export type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse }

const answerWith = ({ request, response }: Exchange, traffic: Traffic, answer: IncomingMessage): void => {
  const refusal = refusalIn(answer)
  if (refusal) {
    traffic.refuse(URL.parse(request.url ?? '')?.hostname ?? '', refusal)
    // Whatever were answered would become a page.
    request.socket.destroy()
    return
  }
  try {
    response.sendDate = false
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEndHeaders(answer.rawHeaders))
  } catch {
    // The target's headers are not HTTP.
    request.socket.destroy()
    return
  }
  answer.on('data', (chunk: Buffer) => traffic.count(chunk.length))
  pipeline(answer, response, () => {})
}

/** Passes a browser's plain request to egress and the answer back, or notes why egress refuses it and hangs up. */
export const passRequest = (egressPath: string, traffic: Traffic, exchange: Exchange): void => {
  const { request, response } = exchange
  const outgoing = askEgress(egressPath, traffic.of, request)
  let isAnswered = false
  outgoing.on('error', (error) => {
    // Egress answers every request; without the browser nobody waits for it.
    if (!isAnswered && !request.socket.destroyed) traffic.interrupt(`no answer of egress: ${error.message}`)
    request.socket.destroy()
  })
  response.once('close', () => outgoing.destroy())
  outgoing.on('response', (answer) => {
    isAnswered = true
    answerWith(exchange, traffic, answer)
  })
  request.on('data', (chunk: Buffer) => traffic.count(chunk.length))
  pipeline(request, outgoing, () => {})
}
