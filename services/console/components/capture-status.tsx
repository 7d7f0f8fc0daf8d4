import type { Screenshot } from '#client/responses.js'
import { texts } from '#console/text/texts.ts'
import { StatusBadge } from './status-badge.tsx'

const tones = { pending: 'quiet', processing: 'busy', completed: 'good', failed: 'bad' } as const

/** The status of a capture. */
export const CaptureStatus = ({ status }: Pick<Screenshot, 'status'>) => (
  <StatusBadge tone={tones[status]} label={texts.captures.statuses[status]} />
)
