import type { Screenshot } from '#client/responses.js'
import { Link } from 'wouter-preact'
import { CaptureStatus } from '#console/components/capture-status.tsx'
import { FactList } from '#console/components/fact-list.tsx'
import { UploadState } from '#console/components/upload-state.tsx'
import { Time } from '#console/components/time.tsx'
import { formatBytes, formatDuration } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'

const code = (text: string | null | undefined) =>
  text === undefined || text === null ? undefined : <code>{text}</code>

/** The record of a capture. */
export const CaptureFacts = ({ capture }: { capture: Screenshot }) => {
  const { id, status, url, final_url, target_status, created_at, completed_at, expires_at, batch_id } = capture
  const { width, height, file_size, processing_time_ms, cached, upload } = capture
  return (
    <FactList
      facts={[
        [texts.captures.status, <CaptureStatus key={status} status={status} />],
        [texts.record.id, code(id)],
        [texts.captures.page, code(url)],
        [texts.record.finalUrl, final_url === url ? undefined : code(final_url)],
        [texts.record.targetStatus, target_status],
        [texts.captures.created, <Time key={created_at} at={created_at} />],
        [texts.record.ended, completed_at && <Time at={completed_at} />],
        [texts.captures.time, processing_time_ms === undefined ? undefined : formatDuration(processing_time_ms)],
        [texts.record.dimensions, width === undefined ? undefined : `${width} × ${height} px`],
        [texts.captures.size, file_size === undefined ? undefined : formatBytes(file_size)],
        [texts.record.cached, cached === true ? texts.common.yes : undefined],
        [texts.record.expires, expires_at && <Time at={expires_at} />],
        [texts.uploads.upload, upload && <UploadState {...upload} />],
        [texts.record.batch, batch_id && <Link href={`/batches/${batch_id}`}>{batch_id}</Link>],
      ]}
    />
  )
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The parameters that a record shows. */
export const ParameterFacts = ({ options }: Pick<Screenshot, 'options'>) => (
  <FactList facts={Object.entries(options).map(([name, value]) => [name, <code key={name}>{shown(value)}</code>])} />
)
