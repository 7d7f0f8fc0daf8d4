import type { ListFilter, Screenshot } from '#client/shutterfleet.js'
import { statuses } from '#shared/capture/status.ts'
import { enumSchema, flag, integer, text } from '#shared/schema/fields.ts'
import { captureAndWait, captureResult, waitSecondsMax } from './captures.ts'
import { captureContent } from './content.ts'
import { contentSchema, pictureSchema } from './input-schemas.ts'
import { type Arguments, jsonResult, type Tool, type ToolCall } from './tool.ts'

/** A capture is charged and recorded, and opens pages of others. */
const captures = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true }
const reads = { readOnlyHint: true, openWorldHint: false }

const capture: Tool = {
  name: 'capture',
  title: 'Capture a page',
  description:
    'Opens a URL, HTML or Markdown in a browser and returns the picture: of the viewport, of the full page, or of one element. Use resize_width to make the picture of a large page small.',
  inputSchema: pictureSchema,
  annotations: captures,
  run: async (call, input) => {
    const { id, record } = await captureAndWait(call, input)
    return captureResult(call, id, record)
  },
}

const content: Tool = {
  name: 'capture_content',
  title: 'Read a page',
  description:
    'Opens a page in a browser and returns its content as rendered: markdown unless outputs names others, such as text, html, links, accessibility.',
  inputSchema: contentSchema,
  annotations: captures,
  run: captureContent,
}

const showStatus = async (call: ToolCall, { id, wait, picture }: Arguments) => {
  const { client, signal } = call
  const record = await client.status(String(id), { ...(wait !== undefined && { wait: wait as number }), signal })
  return picture === true ? captureResult(call, record.id, record) : jsonResult(record)
}

const status: Tool = {
  name: 'status',
  title: 'Show a capture',
  description: 'Returns the record of a capture, or its picture, and waits for its end if wished.',
  inputSchema: {
    type: 'object',
    properties: {
      id: text('Id of the capture.'),
      wait: integer(0, waitSecondsMax, 'Seconds to wait for the end of the capture.', { default: 0 }),
      picture: flag('Whether to return the picture of the completed capture.', { default: false }),
    },
    required: ['id'],
    additionalProperties: false,
  },
  annotations: reads,
  run: showStatus,
}

const perPageDefault = 20

/** What a record is found again by, without its options and timings. */
const briefly = (record: Screenshot) => ({
  id: record.id,
  status: record.status,
  url: record.url,
  created_at: record.created_at,
  mime_type: record.mime_type,
  width: record.width,
  height: record.height,
  file_size: record.file_size,
  error: record.error,
})

/** A page of the list. The service has checked `per_page` before the first record. */
const listPage = async ({ client, signal }: ToolCall, { per_page: perPage = perPageDefault, ...filter }: Arguments) => {
  const records: Screenshot[] = []
  for await (const record of client.list({ ...(filter as ListFilter), perPage: perPage as number, signal })) {
    records.push(record)
    if (records.length >= Number(perPage)) break
  }
  return jsonResult({ captures: records.map(briefly) })
}

const list: Tool = {
  name: 'list',
  title: 'List captures',
  description: 'Lists captures of the account, newest first. Older ones: repeat with `to` set to the last created_at.',
  inputSchema: {
    type: 'object',
    properties: {
      status: enumSchema(statuses, 'Only captures with this status.'),
      from: text('Only captures created on or after this date or date-time, ISO 8601.'),
      to: text('Only captures created on or before this date or date-time, ISO 8601.'),
      per_page: integer(1, 100, 'Number of captures.', { default: perPageDefault }),
    },
    additionalProperties: false,
  },
  annotations: reads,
  run: listPage,
}

const usage: Tool = {
  name: 'usage',
  title: 'Show the usage',
  description: 'Returns how many captures the account has used in this period, and what its plan includes.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  annotations: reads,
  run: async ({ client, signal }) => jsonResult(await client.usage({ signal })),
}

/** The tools of the MCP server, in the order in which models see them. */
export const tools: readonly Tool[] = [capture, content, status, list, usage]
