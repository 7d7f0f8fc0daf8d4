import type { WebhookWithSecret } from '#client/responses.js'
import { useState } from 'preact/hooks'
import { useApi } from '#console/api/session.tsx'
import { Dialog, DialogForm } from '#console/components/dialog.tsx'
import { Field } from '#console/components/field.tsx'
import { ShownOnce } from '#console/components/shown-once.tsx'
import { texts } from '#console/text/texts.ts'

const eventNames = ['screenshot.completed', 'screenshot.failed', 'batch.completed', 'quota.warning'] as const

const EventChoice = ({ chosen, onChange }: { chosen: readonly string[]; onChange: (chosen: string[]) => void }) => (
  <fieldset class="field">
    <legend>{texts.webhooks.events}</legend>
    {eventNames.map((name) => (
      <label key={name} class="check">
        <input
          type="checkbox"
          checked={chosen.includes(name)}
          onChange={() =>
            onChange(eventNames.filter((each) => (each === name ? !chosen.includes(name) : chosen.includes(each))))
          }
        />{' '}
        <code>{name}</code>
      </label>
    ))}
  </fieldset>
)

/** Adds a webhook in a dialog, and then shows its signing secret once. */
export const CreateWebhook = (props: { path: string; onCreated: () => unknown; onClose: () => void }) => {
  const { path, onCreated, onClose } = props
  const api = useApi()
  const [url, setUrl] = useState('')
  const [description, setDescription] = useState('')
  const [events, setEvents] = useState<readonly string[]>(['screenshot.completed', 'screenshot.failed'])
  const [secret, setSecret] = useState<string>()
  const create = async () => {
    const body = { url, description, events }
    const { data } = await api<{ data: WebhookWithSecret }>(path, { method: 'POST', body })
    setSecret(data.secret)
    onCreated()
  }
  const { createdTitle, createdText, secret: label } = texts.webhooks
  if (secret !== undefined)
    return (
      <ShownOnce key="shown" title={createdTitle} text={createdText} label={label} secret={secret} onClose={onClose} />
    )
  return (
    <Dialog title={texts.webhooks.createTitle} onClose={onClose}>
      <DialogForm submit={texts.webhooks.submit} onSubmit={create} onClose={onClose}>
        <Field label={texts.webhooks.url} help={texts.webhooks.urlHelp}>
          {(ids) => (
            <input
              {...ids}
              required
              type="url"
              placeholder="https://example.com/hooks"
              value={url}
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={texts.webhooks.description}>
          {(ids) => (
            <input
              {...ids}
              maxLength={500}
              value={description}
              onInput={(event) => setDescription(event.currentTarget.value)}
            />
          )}
        </Field>
        <EventChoice chosen={events} onChange={setEvents} />
      </DialogForm>
    </Dialog>
  )
}
