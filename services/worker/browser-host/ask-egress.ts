import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { captureHeader, parseRefusal, type Refusal, refusalHeader } from '#shared/net/refusal.ts'

/** Most bytes of the headers of one message; Chromium itself refuses answers with more. */
export const headerBytesMax = 262_144

/** Headers that concern one connection only, and those by which a browser talks to its proxy. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** What is said to the egress filter under these names is ours to say; a page can set any header on its own requests. */
const ownPrefix = 'x-shutterfleet-'

const isEndToEnd = (name: string) => !hopByHop.has(name) && !name.startsWith(ownPrefix)

/** The headers that a message keeps on its way, names and values in turn as Node's `rawHeaders` has them. */
export const endToEndHeaders = (rawHeaders: readonly string[]): string[] => {
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    if (isEndToEnd(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

/** Puts a browser's request to egress on a connection of its own: a kept one could be closed just when it is used again. */
export const askEgress = (egressPath: string, captureId: string, request: IncomingMessage): ClientRequest =>
  openRequest({
    socketPath: egressPath,
    method: request.method,
    path: request.url,
    headers: [...endToEndHeaders(request.rawHeaders), captureHeader, captureId],
    maxHeaderSize: headerBytesMax,
    insecureHTTPParser: true,
    agent: false,
  })

/** Why egress refused, where its answer is a refusal. */
export const refusalIn = (answer: IncomingMessage): Refusal | undefined =>
  parseRefusal(answer.headers[refusalHeader]?.toString())
