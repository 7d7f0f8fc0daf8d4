import type { Batch } from '#client/responses.js'
import { downloadZip } from 'client-zip'
import { useState } from 'preact/hooks'
import { imagePath } from '#console/api/records.ts'
import { sendRequest } from '#console/api/request.ts'
import { ErrorNotice } from '#console/components/state.tsx'
import { captureName } from '#console/components/capture-table.tsx'
import { texts } from '#console/text/texts.ts'

const extensionOf = (type: string) => /^(?:image|application)\/(\w+)/.exec(type)?.[1]?.replace('jpeg', 'jpg') ?? 'bin'

const nameOf = (index: number, name: string, type: string) => {
  const readable = name.replace(/^https?:\/\//, '').replaceAll(/[^\w.-]+/g, '-')
  return `${String(index + 1).padStart(3, '0')}-${readable.slice(0, 80).replace(/[-.]+$/, '')}.${extensionOf(type)}`
}

/** The pictures one after the other, so that one at a time is in memory besides the archive. */
async function* readPictures({ screenshots }: Batch) {
  for (const member of screenshots) {
    if (member.status !== 'completed') continue
    const response = await fetch(imagePath(member.id), { credentials: 'same-origin' })
    // Its retention may have ended.
    if (response.status === 410 || response.status === 404) continue
    if (!response.ok) throw new Error(texts.batches.downloadFailed(response.status))
    yield {
      name: nameOf(member.index, captureName(member), response.headers.get('content-type') ?? ''),
      input: response,
    }
  }
}

const save = (blob: Blob, name: string) => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Downloads the pictures of a batch as one archive. */
export const DownloadBatch = ({ batch }: { batch: Batch }) => {
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const download = async () => {
    setIsBusy(true)
    setError(undefined)
    try {
      // Events may have brought counts before states.
      const { data } = await sendRequest<{ data: Batch }>(`/v1/screenshots/batch/${batch.id}`)
      save(await downloadZip(readPictures(data)).blob(), `batch-${batch.id}.zip`)
    } catch (caught) {
      setError(caught as Error)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <>
      <div class="row">
        <button type="button" class="button" disabled={isBusy || batch.completed === 0} onClick={() => void download()}>
          {isBusy ? texts.batches.downloading : texts.batches.download}
        </button>
      </div>
      {error && <ErrorNotice error={error} />}
    </>
  )
}
