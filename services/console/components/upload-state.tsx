import type { ScreenshotUpload } from '#client/responses.js'
import { texts } from '#console/text/texts.ts'
import { StatusBadge } from './status-badge.tsx'

const tones = { pending: 'busy', succeeded: 'good', failed: 'bad' } as const

/** The state of an upload, with the reason of its latest failed attempt. */
export const UploadState = (props: Pick<ScreenshotUpload, 'status' | 'error' | 'http_status'>) => {
  const { status, error, http_status } = props
  return (
    <>
      <StatusBadge tone={tones[status]} label={texts.uploads.statuses[status]} />
      {error !== null && (
        <span class="below muted">
          {error === 'destination_deleted' ? texts.uploads.destinationDeleted : texts.webhooks.errors[error]}
          {http_status !== null && ` (HTTP ${http_status})`}
        </span>
      )}
    </>
  )
}
