import type { ListFilter, Screenshot } from '#client/shutterfleet.js'
import type { ParameterName } from '#shared/capture/options.ts'
import { statuses } from '#shared/capture/status.ts'
import { enumSchema, flag, integer, text } from '#shared/schema/fields.ts'
import { captureAndWait, captureResult, waitSecondsMax, waitWithProgress } from './captures.ts'
import { captureContent } from './content.ts'
import {
  contentNames,
  contentSchema,
  pictureNames,
  pictureSchema,
  pictureSide,
  requestedSide,
  schemasOf,
} from './input-schemas.ts'
import { withSmallPicture } from './picture.ts'
import { type Arguments, jsonResult, linesResult, type Tool, type ToolCall } from './tool.ts'

/** A capture is charged and recorded, and opens pages of others. */
const captures = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true }
const reads = { readOnlyHint: true, openWorldHint: false }

/** Parameters of a capture: those at the top take precedence over `options`. */
const parametersIn = ({ options, picture_side: _side, ...input }: Arguments): Arguments => ({
  ...(typeof options === 'object' ? options : {}),
  ...input,
})

const capture: Tool = {
  name: 'capture',
  title: 'Capture a page',
  description:
    'Opens a URL, HTML or Markdown in a browser and returns the picture: of the viewport, of the full page, or of one element.',
  inputSchema: pictureSchema,
  annotations: captures,
  run: async (call, input) => {
    const side = requestedSide(input)
    return captureResult(call, { side, ...(await captureAndWait(call, withSmallPicture(parametersIn(input), side))) })
  },
}

const content: Tool = {
  name: 'capture_content',
  title: 'Read a page',
  description:
    'Opens a page in a browser and returns its content as rendered: markdown unless outputs names others, such as text, html, links, accessibility.',
  inputSchema: contentSchema,
  annotations: captures,
  run: (call, input) => captureContent(call, parametersIn(input)),
}

const showStatus = async (call: ToolCall, { wait, picture, ...input }: Arguments) => {
  const { client, signal } = call
  const id = String(input['id'])
  const reading = client.status(id, { ...(wait !== undefined && { wait: wait as number }), signal })
  const record = await waitWithProgress(call, id, reading)
  return picture === true ? captureResult(call, { id, record, side: requestedSide(input) }) : jsonResult(record)
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
      picture_side: pictureSide,
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

const allNames = [...new Set([...pictureNames, ...contentNames])]

/** The first sentence of a description, by which a model finds a parameter. */
const firstSentence = ({ description }: { readonly description?: unknown }) =>
  String(description).replace(/\. .*/s, '.')

const describeParameters = ({ names }: Arguments) => {
  const all = schemasOf(allNames)
  if (!Array.isArray(names) || names.length === 0) {
    return jsonResult(Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, firstSentence(schema)])))
  }
  const requested = names.map(String)
  const unknown = requested.filter((name) => !(name in all))
  if (unknown.length === 0) return jsonResult(schemasOf(requested as ParameterName[]))
  const problem = `VALIDATION_ERROR: names has no parameter ${unknown.join(', ')}; without names all are listed`
  return { isError: true, ...linesResult([problem]) }
}

const describeOptions: Tool = {
  name: 'describe_options',
  title: 'Describe parameters',
  description: 'Returns the schemas of the named parameters of captures; without names, one line for each parameter.',
  inputSchema: {
    type: 'object',
    properties: { names: { type: 'array', items: { type: 'string' } } },
    additionalProperties: false,
  },
  annotations: reads,
  run: (_call, input) => Promise.resolve(describeParameters(input)),
}

/** The tools of the MCP server, in the order in which models see them. */
export const tools: readonly Tool[] = [capture, content, status, list, usage, describeOptions]
