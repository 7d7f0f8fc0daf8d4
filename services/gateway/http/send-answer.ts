import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { callerHeaders } from './caller-headers.ts'
import { corsHeaders } from './cors.ts'
import type { Answer, Exchange } from './exchange.ts'

const encode = (
  body: Answer['body'],
): { bytes: string | Buffer | Readable | undefined; type: Record<string, string> } => {
  if (body === undefined || Buffer.isBuffer(body) || body instanceof Readable) return { bytes: body, type: {} }
  return { bytes: JSON.stringify(body), type: { 'content-type': 'application/json; charset=utf-8' } }
}

/** Sends an answer with the headers that all answers carry. `closing`: the connection takes no further request. */
export const sendAnswer = (reply: FastifyReply, exchange: Exchange, answer: Answer, closing: boolean): FastifyReply => {
  const { bytes, type } = encode(answer.body)
  return reply
    .code(answer.status)
    .headers({
      ...corsHeaders,
      'x-request-id': exchange.requestId,
      ...(exchange.caller && callerHeaders(exchange.caller)),
      ...(exchange.isReplay && { 'idempotent-replayed': 'true' }),
      ...(closing && { connection: 'close' }),
      ...type,
      ...answer.headers,
    })
    .send(bytes)
}
