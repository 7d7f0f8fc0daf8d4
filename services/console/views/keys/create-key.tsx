import { useState } from 'preact/hooks'
import type { ApiKeyParameters } from '#client/requests.js'
import type { ApiKeyWithSecret } from '#client/responses.js'
import { useApi } from '#console/api/session.tsx'
import { Dialog, DialogForm } from '#console/components/dialog.tsx'
import { Field } from '#console/components/field.tsx'
import { ShownOnce } from '#console/components/shown-once.tsx'
import { linesOf } from '#console/text/lines-of.ts'
import { texts } from '#console/text/texts.ts'
import { type Scope, scopes } from './scopes.ts'

const ScopeChoice = ({ chosen, onChange }: { chosen: readonly Scope[]; onChange: (chosen: Scope[]) => void }) => (
  <fieldset class="field">
    <legend>{texts.keys.scopes}</legend>
    {scopes.map((scope) => (
      <label key={scope} class="check">
        <input
          type="checkbox"
          required={chosen.length === 0}
          checked={chosen.includes(scope)}
          onChange={() =>
            onChange(scopes.filter((each) => (each === scope ? !chosen.includes(scope) : chosen.includes(each))))
          }
        />{' '}
        {texts.keys.scopeTexts[scope]}
      </label>
    ))}
  </fieldset>
)

const dayMs = 86_400_000
/** Days until a key expires; 0: never. */
const expiryDays = [0, 30, 90, 365] as const

const ExpiryChoice = ({ days, onChange }: { days: number; onChange: (days: number) => void }) => (
  <Field label={texts.keys.expiry}>
    {(ids) => (
      <select {...ids} value={String(days)} onChange={(event) => onChange(Number(event.currentTarget.value))}>
        {expiryDays.map((each) => (
          <option key={each} value={String(each)}>
            {each === 0 ? texts.common.never : texts.keys.expiryDays(each)}
          </option>
        ))}
      </select>
    )}
  </Field>
)

/** Creates a key in a dialog, and then shows its secret once. */
export const CreateKey = (props: { path: string; onCreated: () => unknown; onClose: () => void }) => {
  const { path, onCreated, onClose } = props
  const api = useApi()
  const [name, setName] = useState('')
  const [domains, setDomains] = useState('')
  const [chosen, setChosen] = useState<readonly Scope[]>(scopes)
  const [days, setDays] = useState(0)
  const [secret, setSecret] = useState<string>()
  const create = async () => {
    const allowed = linesOf(domains)
    const body: ApiKeyParameters = {
      name,
      scopes: [...chosen],
      ...(allowed.length > 0 && { domains: allowed }),
      ...(days > 0 && { expires_at: new Date(Date.now() + days * dayMs).toISOString() }),
    }
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
        <ScopeChoice chosen={chosen} onChange={setChosen} />
        <ExpiryChoice days={days} onChange={setDays} />
      </DialogForm>
    </Dialog>
  )
}
