import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { refusalHeader } from '#shared/net/refusal.ts'

/** Response of a proxy; header names in lower case, repeated ones joined. Status 0: closed without a response. */
export type ProxyAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly refusal: string | undefined
  readonly body: string
  /** The connection, still open after a CONNECT that succeeded. */
  readonly socket: Socket
}

type ProxyRequest = {
  readonly port: number
  /** `CONNECT a:443`, `GET http://a/`, or invalid input: sent verbatim. */
  readonly line: string
  readonly headers?: readonly string[]
  readonly body?: string
  /** Sent right behind a CONNECT. */
  readonly early?: string
}

const waitMs = 10_000

const parse = (text: string, socket: Socket): ProxyAnswer => {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase()
    const value = line.slice(line.indexOf(':') + 1).trim()
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value
  }
  const body = rest.join('\r\n\r\n')
  return { status: Number(first.split(' ')[1] ?? 0), headers, refusal: headers[refusalHeader], body, socket }
}

/**
 * Sends one request to a proxy over a raw socket, without normalization. Resolves at the connection's
 * end, or as soon as a CONNECT has succeeded. Gives up after ten seconds.
 */
export const askProxy = async ({
  port,
  line,
  headers = [],
  body = '',
  early = '',
}: ProxyRequest): Promise<ProxyAnswer> => {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.setTimeout(waitMs, () => socket.destroy(new Error('the proxy did not respond')))
  socket.on('error', () => {})
  const tunnel = Promise.withResolvers<void>()
  let received: Buffer = Buffer.alloc(0)
  const read = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    const end = received.indexOf('\r\n\r\n') + 4
    if (end < 4 || !received.toString('latin1').startsWith('HTTP/1.1 200 Connection established')) return
    socket.off('data', read)
    socket.pause()
    socket.unshift(received.subarray(end))
    received = received.subarray(0, end)
    tunnel.resolve()
  }
  socket.on('data', read)
  const lines = [`${line} HTTP/1.1`, 'Host: ignored.test', 'Connection: close', ...headers]
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}${early}`)
  // A reset also closes the connection; the status shows what came before it.
  await Promise.race([once(socket, 'close'), tunnel.promise]).catch(() => {})
  return parse(received.toString('latin1'), socket)
}
