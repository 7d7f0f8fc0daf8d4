import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpServer, type Upstream } from './server.ts'

/** The transport reads headers only. */
const url = 'http://mcp.invalid/'

type Message = { readonly params?: { readonly _meta?: { readonly progressToken?: unknown } } } | null

/**
 * Answers one message of a client over HTTP, without a session: nothing is kept after `close`. The response is JSON, or empty, or a
 * stream of events where the message requests reports of progress.
 */
export const answerMessage = async (
  message: unknown,
  headers: Readonly<Record<string, string>>,
  upstream: Upstream,
): Promise<{ readonly response: Response; readonly close: () => void }> => {
  const enableJsonResponse = (message as Message)?.params?._meta?.progressToken === undefined
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse })
  const mcp = createMcpServer(upstream)
  await mcp.connect(transport)
  const response = await transport.handleRequest(new Request(url, { method: 'POST', headers }), { parsedBody: message })
  return { response, close: () => void mcp.close() }
}
