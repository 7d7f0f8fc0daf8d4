import type { Screenshot } from '#client/responses.js'
import { Link } from 'wouter-preact'
import { imagePath } from '#console/api/records.ts'
import { formatBytes, formatDuration } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import { CaptureStatus } from './capture-status.tsx'
import { fileFormat } from './file-result.tsx'
import { TableHead } from './table-head.tsx'
import { Time } from './time.tsx'

/** Larger pictures are not loaded for a list. */
const thumbnailBytes = 1_500_000

const Thumbnail = ({ capture }: { capture: Screenshot }) => {
  const { id, status, file_size = 0 } = capture
  const isPicture = status === 'completed' && fileFormat(capture) === undefined
  if (!isPicture || file_size > thumbnailBytes) return <span class="thumbnail" aria-hidden="true" />
  return <img class="thumbnail" src={imagePath(id)} alt="" loading="lazy" decoding="async" />
}

/** What a capture shows: its URL, or kind and size of its source. */
export const captureName = ({ url, options }: Pick<Screenshot, 'url' | 'options'>): string =>
  url ?? texts.captures.sourceOf(options.source ?? 'html', formatBytes(options.source_bytes ?? 0))

/** Ids of selected captures. */
type Selection = { readonly ids: readonly string[]; readonly onChange: (ids: readonly string[]) => void }

const Select = ({ capture, selection: { ids, onChange } }: { capture: Screenshot; selection: Selection }) => {
  const isSelected = ids.includes(capture.id)
  return (
    <td class="select">
      <input
        type="checkbox"
        aria-label={texts.captures.select(captureName(capture))}
        checked={isSelected}
        onChange={() => onChange(isSelected ? ids.filter((id) => id !== capture.id) : [...ids, capture.id])}
      />
    </td>
  )
}

/** Captures in rows, which can be selected if there is a selection. */
export const CaptureTable = ({ captures, selection }: { captures: readonly Screenshot[]; selection?: Selection }) => (
  <table>
    <TableHead
      columns={[
        selection !== undefined && { title: texts.captures.selection, layout: 'select', isHidden: true },
        texts.captures.page,
        texts.captures.status,
        { title: texts.captures.size, layout: 'wide number' },
        { title: texts.captures.time, layout: 'wide number' },
        { title: texts.captures.created, layout: 'number' },
      ]}
    />
    <tbody>
      {captures.map((capture) => (
        <tr key={capture.id}>
          {selection && <Select capture={capture} selection={selection} />}
          <td class="main-cell">
            <Link href={`/captures/${capture.id}`} class="capture-link">
              <Thumbnail capture={capture} />
              <span class="ellipsis" title={captureName(capture)}>
                {captureName(capture).replace(/^https:\/\//, '')}
              </span>
            </Link>
          </td>
          <td>
            <CaptureStatus status={capture.status} />
            {capture.error && <span class="code-word"> {capture.error.code}</span>}
            {capture.target_status !== undefined && capture.target_status >= 400 && (
              <span class="code-word"> {texts.captures.pageStatus(capture.target_status)}</span>
            )}
          </td>
          <td class="wide number">
            {capture.file_size === undefined ? texts.common.none : formatBytes(capture.file_size)}
          </td>
          <td class="wide number">
            {capture.processing_time_ms === undefined ? texts.common.none : formatDuration(capture.processing_time_ms)}
          </td>
          <td class="number nowrap">
            <Time at={capture.created_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)
