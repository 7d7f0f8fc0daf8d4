import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { useApi } from '#console/api/session.tsx'
import { Dialog, DialogForm } from '#console/components/dialog.tsx'
import { Field } from '#console/components/field.tsx'
import { linesOf } from '#console/text/lines-of.ts'
import { texts } from '#console/text/texts.ts'

const formats = ['png', 'jpeg', 'webp', 'avif', 'pdf'] as const

/** Starts a batch from a list of addresses, and then shows its progress. */
export const CreateBatch = ({ onClose }: { onClose: () => void }) => {
  const api = useApi()
  const [, navigate] = useLocation()
  const [urls, setUrls] = useState('')
  const [format, setFormat] = useState<string>(formats[0])
  const start = async () => {
    const body = { urls: linesOf(urls), format }
    const { data } = await api<{ data: { id: string } }>('/v1/screenshots/batch', { method: 'POST', body })
    navigate(`/batches/${data.id}`)
  }
  return (
    <Dialog title={texts.batches.createTitle} onClose={onClose}>
      <DialogForm submit={texts.batches.submit} onSubmit={start} onClose={onClose}>
        <Field label={texts.batches.urls} help={texts.batches.urlsHelp}>
          {(ids) => (
            <textarea
              {...ids}
              required
              rows={8}
              class="mono"
              spellcheck={false}
              value={urls}
              onInput={(event) => setUrls(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={texts.batches.format}>
          {(ids) => (
            <select {...ids} value={format} onChange={(event) => setFormat(event.currentTarget.value)}>
              {formats.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}
