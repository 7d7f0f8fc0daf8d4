import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A response as received over the wire. Header names are in lower case. */
export type RawAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const readAnswer = (bytes: string): RawAnswer | undefined => {
  const end = bytes.indexOf('\r\n\r\n')
  const [first = '', ...lines] = bytes.slice(0, Math.max(0, end)).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (?<status>\d{3}) /.exec(first)?.groups?.['status'])
  if (end < 0 || Number.isNaN(status)) return undefined
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':')[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { status, headers, body: bytes.slice(end + 4) }
}

/** A client that sends raw bytes. Its sockets are closed at the test's end. */
export const createRawClient = (t: { teardown: (clean: () => void) => void }, baseUrl: string) => {
  const { hostname, port } = new URL(baseUrl)
  const open = async (): Promise<Socket> => {
    const socket = connect(Number(port), hostname)
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  return {
    open,
    /** Sends bytes and reads one response; undefined if the connection ends without one. */
    send: async (...parts: readonly (string | Buffer)[]): Promise<RawAnswer | undefined> => {
      const socket = await open()
      let bytes = ''
      const closed = Promise.withResolvers<void>()
      socket.once('close', () => closed.resolve())
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        bytes += chunk
        const answer = readAnswer(bytes)
        if (answer && answer.body.length >= Number(answer.headers['content-length'])) socket.destroy()
      })
      for (const part of parts) socket.write(part)
      await closed.promise
      return readAnswer(bytes)
    },
  }
}

/** The head of a request. */
export const rawHead = (line: string, headers: readonly string[]): string =>
  [`${line} HTTP/1.1`, ...headers, '', ''].join('\r\n')
