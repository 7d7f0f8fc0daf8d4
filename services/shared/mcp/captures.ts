import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Screenshot } from '#client/shutterfleet.js'
import { pictureBlocks } from './picture.ts'
import { type Arguments, linesResult, textBlock, type ToolCall } from './tool.ts'

/** Longest wait of a call for its capture: below the 60 s after which clients give up by default. */
export const waitSecondsMax = 50

/** Pause between two reports of progress: clients that count from the latest one give up after 10 s at the earliest. */
const progressMs = 5000

/** Reports the progress of a wait until it ends. */
export const waitWithProgress = async <T>({ progress }: ToolCall, id: string, ended: Promise<T>): Promise<T> => {
  progress(`waiting for capture ${id}`)
  const ticking = setInterval(() => progress(`waiting for capture ${id}`), progressMs)
  return ended.finally(() => clearInterval(ticking))
}

/**
 * Captures and waits. Undefined in place of the record: the capture goes on after the longest wait, or after an error of the wait.
 * Throws `ShutterfleetError` if the service refuses the capture.
 */
export const captureAndWait = async (
  call: ToolCall,
  input: Arguments,
): Promise<{ readonly id: string; readonly record: Screenshot | undefined }> => {
  const { client, signal } = call
  const { id } = await client.create({ on_timeout: 'capture', ...input }, { signal })
  const ended = client.waitFor(id, { waitMs: waitSecondsMax * 1000, signal }).catch(() => undefined)
  return { id, record: await waitWithProgress(call, id, ended) }
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

/** What a program reads of a capture: its record without options and timings, which the caller knows or does not need. */
export const structuredCapture = ({ options: _options, timings: _timings, ...record }: Screenshot) => ({
  structuredContent: record,
})

/** The result for a capture that has not completed. */
export const incompleteResult = (id: string, record: Screenshot | undefined): CallToolResult => {
  const { code = 'JOB_FAILED', message = '' } = record?.error ?? {}
  const structured = record ? structuredCapture(record) : { structuredContent: { id } }
  if (record?.status === 'failed')
    return { isError: true, ...linesResult([`${code}: ${message}`, `capture ${id}`]), ...structured }
  return {
    ...linesResult([`capture ${id} was accepted and has not ended: call status with this id and wait`]),
    ...structured,
  }
}

/** The result for a capture: picture and description if it has completed. `side`: longest side of the picture, in pixels. */
export const captureResult = async (
  call: ToolCall,
  { id, record, side }: { readonly id: string; readonly record: Screenshot | undefined; readonly side: number },
): Promise<CallToolResult> => {
  if (record?.status !== 'completed') return incompleteResult(id, record)
  const picture = await pictureBlocks(call, record, side)
  return { content: [...picture, textBlock(describeCapture(record).join('\n'))], ...structuredCapture(record) }
}
