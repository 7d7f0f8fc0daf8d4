import type { TargetLists } from '#client/responses.js'
import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useApi, useSession } from '#console/api/session.tsx'
import { Dialog, DialogForm } from '#console/components/dialog.tsx'
import { FactList } from '#console/components/fact-list.tsx'
import { Field } from '#console/components/field.tsx'
import { Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { linesOf } from '#console/text/lines-of.ts'
import { texts } from '#console/text/texts.ts'

const path = '/v1/account/targets'

/** Changes both lists in a dialog, one entry a line. */
const ChangeTargets = (props: { lists: TargetLists; onChanged: () => unknown; onClose: () => void }) => {
  const { lists, onChanged, onClose } = props
  const api = useApi()
  const [allow, setAllow] = useState(lists.allow.join('\n'))
  const [deny, setDeny] = useState(lists.deny.join('\n'))
  const change = async () => {
    await api(path, { method: 'PUT', body: { allow: linesOf(allow), deny: linesOf(deny) } })
    await onChanged()
    onClose()
  }
  return (
    <Dialog title={texts.targets.changeTitle} onClose={onClose}>
      <DialogForm submit={texts.targets.submit} onSubmit={change} onClose={onClose}>
        <p>{texts.targets.changeText}</p>
        <Field label={texts.targets.deny} help={texts.targets.denyHelp}>
          {(ids) => <textarea {...ids} rows={6} value={deny} onInput={(event) => setDeny(event.currentTarget.value)} />}
        </Field>
        <Field label={texts.targets.allow} help={texts.targets.allowHelp}>
          {(ids) => (
            <textarea {...ids} rows={6} value={allow} onInput={(event) => setAllow(event.currentTarget.value)} />
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}

/** Which targets captures of the account may and may not reach; an owner changes them. */
export const Targets = () => {
  const { role } = useSession()
  const client = useQueryClient()
  const query = useQuery<{ data: TargetLists }>({ queryKey: [path] })
  const [isChanging, setIsChanging] = useState(false)
  const lists = query.data?.data
  return (
    <Section
      title={texts.targets.title}
      actions={
        role === 'owner' &&
        lists && (
          <button type="button" class="button" onClick={() => setIsChanging(true)}>
            {texts.targets.change}
          </button>
        )
      }
    >
      <Loaded query={query}>
        {({ data }) => (
          <FactList
            facts={[
              [texts.targets.deny, data.deny.join(', ') || texts.targets.none],
              [texts.targets.allow, data.allow.join(', ') || texts.targets.all],
            ]}
          />
        )}
      </Loaded>
      {isChanging && lists && (
        <ChangeTargets
          lists={lists}
          onChanged={() => client.invalidateQueries({ queryKey: [path] })}
          onClose={() => setIsChanging(false)}
        />
      )}
    </Section>
  )
}
