import type { ScreenshotUpload } from '#client/responses.js'
import { texts } from '#console/text/texts.ts'
import { StatusBadge } from './status-badge.tsx'

const tones = { pending: 'busy', succeeded: 'good', failed: 'bad' } as const

type Props = Pick<ScreenshotUpload, 'status' | 'error' | 'http_status'> & Partial<ScreenshotUpload>

/** The state of an upload, with its object if it is known, and the reason of its latest failed attempt. */
export const UploadState = ({ status, error, http_status, bucket, key }: Props) => {
  return (
    <>
      <StatusBadge tone={tones[status]} label={texts.uploads.statuses[status]} />
      {bucket && key && <code class="below">{texts.uploads.uploadedTo(bucket, key)}</code>}
      {error !== null && (
        <span class="below muted">
          {error === 'destination_deleted' ? texts.uploads.destinationDeleted : texts.webhooks.errors[error]}
          {http_status !== null && ` (HTTP ${http_status})`}
        </span>
      )}
    </>
  )
}
