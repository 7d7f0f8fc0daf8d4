import { useState } from 'preact/hooks'
import { useApi } from '#console/api/session.tsx'
import { Dialog, DialogForm } from '#console/components/dialog.tsx'
import { Field } from '#console/components/field.tsx'
import { texts } from '#console/text/texts.ts'

const initial = {
  name: '',
  endpoint: '',
  region: 'us-east-1',
  bucket: '',
  prefix: '',
  access_key_id: '',
  secret_access_key: '',
}
type Name = keyof typeof initial

const names = Object.keys(initial) as Name[]

const typeOf = (name: Name) => {
  if (name === 'endpoint') return 'url'
  return name === 'secret_access_key' ? 'password' : 'text'
}

/** Adds an upload destination in a dialog. */
export const AddDestination = (props: { path: string; onAdded: () => unknown; onClose: () => void }) => {
  const { path, onAdded, onClose } = props
  const api = useApi()
  const [fields, setFields] = useState(initial)
  const [isPathStyle, setIsPathStyle] = useState(true)
  const add = async () => {
    await api(path, { method: 'POST', body: { ...fields, path_style: isPathStyle } })
    onAdded()
    onClose()
  }
  return (
    <Dialog title={texts.uploads.addTitle} onClose={onClose}>
      <DialogForm submit={texts.uploads.submit} onSubmit={add} onClose={onClose}>
        {names.map((name) => (
          <Field key={name} {...texts.uploads.fields[name]}>
            {(ids) => (
              <input
                {...ids}
                required={name !== 'prefix'}
                type={typeOf(name)}
                autocomplete="off"
                value={fields[name]}
                onInput={(event) => setFields({ ...fields, [name]: event.currentTarget.value })}
              />
            )}
          </Field>
        ))}
        <label class="check">
          <input type="checkbox" checked={isPathStyle} onChange={() => setIsPathStyle(!isPathStyle)} />{' '}
          {texts.uploads.pathStyle}
        </label>
      </DialogForm>
    </Dialog>
  )
}
