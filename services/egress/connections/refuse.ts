import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError } from '#shared/errors/app-error.ts'
import { type Refusal, refusalHeader } from '#shared/net/refusal.ts'
import { DeniedTarget } from '#egress/target/check-lists.ts'

/** The bound of connections is reached. */
export class Overloaded extends AppError {
  constructor() {
    super('SERVICE_UNAVAILABLE', { message: 'too many connections are open' })
  }
}

/** The response for an error: status and value of the refusal header. Total. */
export const toRefusal = (error: AppError): { readonly status: number; readonly refusal: Refusal } => {
  const { code } = error
  if (error instanceof Overloaded) return { status: 503, refusal: 'overloaded' }
  if (error instanceof DeniedTarget) return { status: 403, refusal: `denied_by_${error.owner}` }
  if (code === 'BLOCKED') return { status: 403, refusal: 'blocked' }
  if (code === 'DNS_FAILED') return { status: 502, refusal: 'dns_failed' }
  if (code === 'BAD_REQUEST') return { status: 400, refusal: 'bad_request' }
  if (code === 'TIMEOUT') return { status: 504, refusal: 'connection_failed' }
  if (code === 'CONNECTION_FAILED') return { status: 502, refusal: 'connection_failed' }
  if (code === 'CONFIGURATION') return { status: 407, refusal: 'unavailable' }
  return { status: 503, refusal: 'unavailable' }
}

/** The challenge of a 407 (RFC 9110 §15.5.8). */
const challengeHeaders = (status: number): Readonly<Record<string, string>> =>
  status === 407 ? { 'proxy-authenticate': 'Bearer' } : {}

/** A client that does not close its side of a refused connection is cut after this. */
const lingerMs = 5000

/** Refuses a tunnel on a bare socket, and closes it. */
export const refuseTunnel = (client: Duplex, error: AppError): void => {
  const { status, refusal } = toRefusal(error)
  const challenge = Object.entries(challengeHeaders(status)).map((pair) => pair.join(': '))
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, `${refusalHeader}: ${refusal}`, ...challenge]
  client.end(`${[...lines, 'content-length: 0', 'connection: close'].join('\r\n')}\r\n\r\n`)
  client.resume()
  const linger = setTimeout(() => client.destroy(), lingerMs)
  client.once('close', () => clearTimeout(linger))
}

/** Refuses a plain request; cuts the connection if the target's response has begun. */
export const refuseRequest = (response: ServerResponse, error: AppError): void => {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status, refusal } = toRefusal(error)
  response.writeHead(status, {
    [refusalHeader]: refusal,
    ...challengeHeaders(status),
    'content-length': 0,
    connection: 'close',
  })
  response.end()
}
