import { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createMcpServer, type Upstream } from './server.ts'

type Streams = {
  readonly input: AsyncIterable<Buffer>
  /** Writes protocol only. */
  readonly write: (text: string) => void
}

/** Serves one client until its input ends, or `stop` aborts. Calls in flight are then given up. */
export const serveStdio = async (
  { stop, ...upstream }: Omit<Upstream, 'reserve'>,
  { input, write }: Streams,
): Promise<void> => {
  const ending = new AbortController()
  const incoming = Readable.from(input)
  const outgoing = new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      write(text)
      done()
    },
  })
  const mcp = createMcpServer({ ...upstream, stop: AbortSignal.any([stop, ending.signal]), reserve: () => true })
  await mcp.connect(new StdioServerTransport(incoming, outgoing))
  await finished(incoming, { signal: stop, writable: false }).catch(() => undefined)
  ending.abort()
  await mcp.close()
  incoming.destroy()
}
