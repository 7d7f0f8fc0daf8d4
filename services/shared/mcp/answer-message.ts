import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpServer, type Upstream } from './server.ts'

/** The transport reads headers only. */
const url = 'http://mcp.invalid/'

/** Answers one message of a client over HTTP, without a session: nothing is kept afterwards. The response is JSON, or empty. */
export const answerMessage = async (
  message: unknown,
  headers: Readonly<Record<string, string>>,
  upstream: Upstream,
): Promise<Response> => {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const mcp = createMcpServer(upstream)
  await mcp.connect(transport)
  try {
    return await transport.handleRequest(new Request(url, { method: 'POST', headers }), { parsedBody: message })
  } finally {
    await mcp.close()
  }
}
