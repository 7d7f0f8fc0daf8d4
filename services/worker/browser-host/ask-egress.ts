import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { proxyHeader, proxyHeaderValue } from '#shared/net/callers-proxy.ts'
import { endToEndHeaders } from '#shared/net/end-to-end-headers.ts'
import { captureHeader, parseRefusal, type Refusal, refusalHeader } from '#shared/net/refusal.ts'
import type { TrafficOf } from './traffic.ts'

/** Most bytes of the headers of one message; Chromium itself refuses answers with more. */
export const headerBytesMax = 262_144

/** What egress is told of a request beside the request itself; of the page's own headers none passes for it. */
const toldOf = ({ id, proxy }: TrafficOf): readonly string[] => [
  captureHeader,
  id,
  ...(proxy === undefined ? [] : [proxyHeader, proxyHeaderValue(proxy)]),
]

/** Puts a browser's request to egress on a connection of its own: a kept one could be closed just when it is used again. */
export const askEgress = (egressPath: string, of: TrafficOf, request: IncomingMessage): ClientRequest =>
  openRequest({
    socketPath: egressPath,
    method: request.method,
    path: request.url,
    headers: [...endToEndHeaders(request.rawHeaders), ...toldOf(of)],
    maxHeaderSize: headerBytesMax,
    insecureHTTPParser: true,
    agent: false,
  })

/** Why egress refused, where its answer is a refusal. */
export const refusalIn = (answer: IncomingMessage): Refusal | undefined =>
  parseRefusal(answer.headers[refusalHeader]?.toString())
