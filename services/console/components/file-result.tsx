import type { Screenshot } from '#client/responses.js'
import { imagePath } from '#console/api/records.ts'
import { texts } from '#console/text/texts.ts'
import { Notice } from './state.tsx'

const names: Readonly<Record<string, string>> = { 'application/pdf': 'PDF', 'image/tiff': 'TIFF' }

/** The name of a format that pages do not show; undefined for pictures. */
export const fileFormat = ({ mime_type }: Pick<Screenshot, 'mime_type'>): string | undefined =>
  mime_type && names[mime_type]

/** A result that pages do not show, to be opened. */
export const FileResult = ({ id, format }: { id: string; format: string }) => (
  <Notice
    title={texts.record.fileResult(format)}
    actions={
      <a class="button" href={imagePath(id)} target="_blank" rel="noreferrer">
        {texts.record.openFile(format)}
      </a>
    }
  />
)
