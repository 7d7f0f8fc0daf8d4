import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useApi } from '#console/api/session.tsx'
import { ConfirmDialog, Dialog, DialogForm } from '#console/components/dialog.tsx'
import { Field } from '#console/components/field.tsx'
import { texts } from '#console/text/texts.ts'
import { type OperatedAccount, operatorPath, type PlanInForce } from './records.ts'

const words = texts.operator.accounts

/** What an operator may change of an account. */
export type AccountChange = 'plan' | 'disable' | 'enable' | 'erase'

type Props = {
  readonly account: OperatedAccount
  readonly path: string
  readonly onChanged: () => Promise<unknown>
  readonly onClose: () => void
}

/** Sends a change, and closes the dialog once the page shows it. */
const useSend = ({ path, onChanged, onClose }: Props) => {
  const api = useApi()
  return async (method: 'PATCH' | 'DELETE', body?: object) => {
    await api(path, { method, ...(body && { body }) })
    await onChanged()
    onClose()
  }
}

const PlanDialog = (props: Props) => {
  const { account, onClose } = props
  const send = useSend(props)
  const [plan, setPlan] = useState(account.plan)
  const plans = useQuery<{ data: readonly PlanInForce[] }>({ queryKey: [`${operatorPath}/plans`] })
  return (
    <Dialog title={words.changePlanTitle(account.name)} onClose={onClose}>
      <DialogForm submit={words.submitPlan} onSubmit={() => send('PATCH', { plan })} onClose={onClose}>
        <Field label={words.plan}>
          {(ids) => (
            <select {...ids} value={plan} onChange={(event) => setPlan(event.currentTarget.value)}>
              {(plans.data?.data ?? [{ slug: account.plan, name: account.plan }]).map(({ slug, name }) => (
                <option key={slug} value={slug}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}

const EraseDialog = (props: Props) => {
  const { account, onClose } = props
  const send = useSend(props)
  return (
    <Dialog title={words.eraseTitle(account.name)} onClose={onClose}>
      <DialogForm danger submit={words.erase} onSubmit={() => send('DELETE')} onClose={onClose}>
        <p>{words.eraseText}</p>
        <Field label={words.eraseName}>
          {(ids) => (
            <input
              {...ids}
              required
              autoComplete="off"
              onInput={({ currentTarget: input }) =>
                input.setCustomValidity(input.value === account.name ? '' : words.eraseOther(account.name))
              }
            />
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}

/** Asks for what a change needs, and makes it. */
export const AccountDialog = ({ change, ...props }: Props & { readonly change: AccountChange }) => {
  const send = useSend(props)
  const { account, onClose } = props
  if (change === 'plan') return <PlanDialog {...props} />
  if (change === 'erase') return <EraseDialog {...props} />
  const [title, text] =
    change === 'disable'
      ? [words.disableTitle(account.name), words.disableText]
      : [words.enableTitle(account.name), words.enableText]
  return (
    <ConfirmDialog
      title={title}
      text={text}
      submit={words[change]}
      onSubmit={() => send('PATCH', { disabled: change === 'disable' })}
      onClose={onClose}
    />
  )
}
