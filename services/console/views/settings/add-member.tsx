import type { Member } from '#client/responses.js'
import { useState } from 'preact/hooks'
import { useApi } from '#console/api/session.tsx'
import { Dialog, DialogForm } from '#console/components/dialog.tsx'
import { Field } from '#console/components/field.tsx'
import { texts } from '#console/text/texts.ts'

type Role = Member['role']

const roles: readonly Role[] = ['owner', 'member', 'viewer']

/** A choice among the roles. */
export const RoleSelect = (props: { role: Role; onChange: (role: Role) => void; [attribute: string]: unknown }) => {
  const { role, onChange, ...attributes } = props
  return (
    <select {...attributes} value={role} onChange={(event) => onChange(event.currentTarget.value as Role)}>
      {roles.map((each) => (
        <option key={each} value={each}>
          {texts.shell.roles[each]}
        </option>
      ))}
    </select>
  )
}

/** Adds a member in a dialog. */
export const AddMember = (props: { path: string; onAdded: () => unknown; onClose: () => void }) => {
  const { path, onAdded, onClose } = props
  const api = useApi()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const add = async () => {
    await api(path, { method: 'POST', body: { email, role } })
    await onAdded()
    onClose()
  }
  return (
    <Dialog title={texts.members.addTitle} onClose={onClose}>
      <DialogForm submit={texts.members.submit} onSubmit={add} onClose={onClose}>
        <p>{texts.members.addText}</p>
        <Field label={texts.members.email}>
          {(ids) => (
            <input
              {...ids}
              type="email"
              required
              maxLength={320}
              autoComplete="off"
              value={email}
              onInput={(event) => setEmail(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={texts.members.role} help={texts.members.roleHelp}>
          {(ids) => <RoleSelect {...ids} role={role} onChange={setRole} />}
        </Field>
      </DialogForm>
    </Dialog>
  )
}
