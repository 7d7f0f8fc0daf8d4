import type { CallToolResult, ContentBlock, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js'
import { type Shutterfleet, ShutterfleetError } from '#client/shutterfleet.js'
import type { JsonSchema } from '#shared/schema/fields.ts'

/** What a call of a tool uses. */
export type ToolCall = {
  /** Of the account that calls. */
  readonly client: Shutterfleet
  readonly signal: AbortSignal
  /** Reserves memory for a file until the call ends; false if there is too little now. */
  readonly reserve: (bytes: number) => boolean
  /** Reports what the call does now, if its client wants to know. */
  readonly progress: (message: string) => void
}

/** Arguments as a model sent them, not validated: the service does it, and names the field. */
export type Arguments = Readonly<Record<string, unknown>>

/** A tool of the MCP server. */
export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema & { readonly type: 'object'; readonly required?: readonly string[] }
  readonly annotations: ToolAnnotations
  /** Throws `ShutterfleetError` if the service refuses. */
  readonly run: (call: ToolCall, input: Arguments) => Promise<CallToolResult>
}

/** A block of text in a result. */
export const textBlock = (text: string): ContentBlock => ({ type: 'text', text })

/** A result of one line for each part. */
export const linesResult = (lines: readonly string[]): CallToolResult => ({ content: [textBlock(lines.join('\n'))] })

/** A result that programs read too. */
export const jsonResult = (value: object): CallToolResult => ({
  content: [textBlock(JSON.stringify(value))],
  structuredContent: { ...value },
})

const problemsOf = (details: ShutterfleetError['details'] = {}) =>
  Object.entries(details).map(([name, problems]) => `${name} ${problems.join(', ')}`)

/** The error of a call as the model reads it: code, message, problems by field, and where the error is explained. */
export const errorResult = (thrown: unknown): CallToolResult => {
  if (!(thrown instanceof ShutterfleetError)) {
    const text = 'SERVICE_UNAVAILABLE: the service did not respond; the same call may succeed later'
    return { isError: true, content: [textBlock(text)] }
  }
  const { code, message, details, docUrl, retryAfter, screenshotId } = thrown
  const lines = [
    `${code}: ${message}`,
    ...problemsOf(details),
    ...(retryAfter === undefined ? [] : [`retry after ${retryAfter} s`]),
    ...(screenshotId === undefined ? [] : [`capture ${screenshotId}`]),
    ...(docUrl === undefined ? [] : [docUrl]),
  ]
  const structuredContent = { error: { code, message, details, retry_after: retryAfter, screenshot_id: screenshotId } }
  return { isError: true, content: [textBlock(lines.join('\n'))], structuredContent }
}
