import { useState } from 'preact/hooks'
import type { ApiKeyWithSecret } from '#client/responses.js'
import { useApi } from '#console/api/session.tsx'
import { Dialog, DialogForm } from '#console/components/dialog.tsx'
import { Field } from '#console/components/field.tsx'
import { ShownOnce } from '#console/components/shown-once.tsx'
import { linesOf } from '#console/text/lines-of.ts'
import { texts } from '#console/text/texts.ts'

/** Creates a key in a dialog, and then shows its secret once. */
export const CreateKey = (props: { path: string; onCreated: () => unknown; onClose: () => void }) => {
  const { path, onCreated, onClose } = props
  const api = useApi()
  const [name, setName] = useState('')
  const [domains, setDomains] = useState('')
  const [secret, setSecret] = useState<string>()
  const create = async () => {
    const allowed = linesOf(domains)
    const body = { name, ...(allowed.length > 0 && { domains: allowed }) }
    const { data } = await api<{ data: ApiKeyWithSecret }>(path, { method: 'POST', body })
    setSecret(data.key)
    onCreated()
  }
  const { createdTitle, createdText, secret: label } = texts.keys
  if (secret !== undefined)
    return (
      <ShownOnce key="shown" title={createdTitle} text={createdText} label={label} secret={secret} onClose={onClose} />
    )
  return (
    <Dialog title={texts.keys.createTitle} onClose={onClose}>
      <DialogForm submit={texts.keys.submit} onSubmit={create} onClose={onClose}>
        <Field label={texts.keys.name} help={texts.keys.nameHelp}>
          {(ids) => (
            <input
              {...ids}
              required
              maxLength={200}
              autoComplete="off"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={texts.keys.domains} help={texts.keys.domainsHelp}>
          {(ids) => (
            <textarea {...ids} rows={3} value={domains} onInput={(event) => setDomains(event.currentTarget.value)} />
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}
