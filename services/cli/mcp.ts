import { AppError } from '#shared/errors/app-error.ts'
import { type Command, dataFlag } from './command/command.ts'
import { findInterface } from './installation.ts'

/** `mcp`: serves the tools of the service to an MCP client that started it; standard output has only the protocol. */
export const mcp: Command = {
  usage: 'mcp [--data DIR]',
  summary:
    'serves the tools of docs/mcp.md, such as capture and capture_content, to an MCP client (Model Context Protocol, stdio)',
  json: 'the messages of the protocol in any case, each on a line',
  flags: { data: dataFlag },
  run: async ({ env, stop, note, write, input }, args) => {
    if (!input) throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: 'there is no standard input to read from' })
    const { serveStdio } = await import('#shared/mcp/serve-stdio.ts')
    const at = await findInterface(env, args)
    note(`serving MCP on standard input and output, for ${at.baseUrl}`)
    await serveStdio({ ...at, stop }, { input, write })
  },
}
