import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js'
import type { Image, Screenshot } from '#client/shutterfleet.js'
import { type Arguments, linesResult, textBlock, type ToolCall } from './tool.ts'

/** Longest wait of a call for its capture: below the 60 s after which clients give up by default. */
export const waitSecondsMax = 50
/** Largest picture in a result. */
const pictureBytesMax = 5 * 1024 * 1024
/** Pictures that models read; others are handed over as files. */
const pictureTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/webp']

/**
 * Captures and waits. Undefined in place of the record: the capture goes on after the longest wait, or after an error of the wait.
 * Throws `ShutterfleetError` if the service refuses the capture.
 */
export const captureAndWait = async (
  { client, signal }: ToolCall,
  input: Arguments,
): Promise<{ readonly id: string; readonly record: Screenshot | undefined }> => {
  const { id } = await client.create({ on_timeout: 'capture', ...input }, { signal })
  const record = await client.waitFor(id, { waitMs: waitSecondsMax * 1000, signal }).catch(() => undefined)
  return { id, record }
}

const answeredBy = ({ target_status: status, final_url: url }: Screenshot) =>
  status === undefined ? [] : [`the page answered ${status}${url === undefined ? '' : ` at ${url}`}`]

/** What a model has to know of a completed capture. */
export const describeCapture = (record: Screenshot): readonly string[] => [
  `capture ${record.id} completed: ${record.width} × ${record.height} pixels, ${record.file_size} bytes, ${record.mime_type}`,
  ...answeredBy(record),
  ...(record.cached === true ? ['from the cache, free of charge'] : []),
  ...(record.warnings ?? []).map(({ code, message }) => `warning: ${code}: ${message}`),
]

/** The result for a capture that has not completed. */
export const incompleteResult = (id: string, record: Screenshot | undefined): CallToolResult => {
  const { code = 'JOB_FAILED', message = '' } = record?.error ?? {}
  if (record?.status === 'failed') return { isError: true, ...linesResult([`${code}: ${message}`, `capture ${id}`]) }
  return linesResult([`capture ${id} was accepted and has not ended: call status with this id and wait`])
}

const fileBlock = ({ bytes, contentType: mimeType }: Image, uri: string): ContentBlock => {
  const blob = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  if (pictureTypes.includes(mimeType)) return { type: 'image', data: blob, mimeType }
  return { type: 'resource', resource: { uri, mimeType, blob } }
}

/** The picture of a completed capture; its address if it is too large. */
const pictureBlock = async ({ client, signal, reserve }: ToolCall, record: Screenshot): Promise<ContentBlock> => {
  const { id, file_size: bytes = 0, image_url: url = '' } = record
  if (bytes > pictureBytesMax) {
    return textBlock(
      `The picture is larger than ${pictureBytesMax} bytes and not included: resize it, or download ${url}`,
    )
  }
  if (!reserve(bytes)) return textBlock(`The picture is not included, because memory is short now: download ${url}`)
  return fileBlock(await client.image(id, { signal }), url)
}

/** The result for a capture: picture and description if it has completed. */
export const captureResult = async (
  call: ToolCall,
  id: string,
  record: Screenshot | undefined,
): Promise<CallToolResult> => {
  if (record?.status !== 'completed') return incompleteResult(id, record)
  return { content: [await pictureBlock(call, record), textBlock(describeCapture(record).join('\n'))] }
}
