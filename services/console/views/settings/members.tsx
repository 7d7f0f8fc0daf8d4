import type { Member } from '#client/responses.js'
import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useApi, useSession } from '#console/api/session.tsx'
import { ConfirmDialog } from '#console/components/dialog.tsx'
import { Section } from '#console/components/page.tsx'
import { ShownOnce } from '#console/components/shown-once.tsx'
import { ErrorNotice, Loaded, Notice } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { AddMember, RoleSelect } from './add-member.tsx'

const path = '/v1/members'

type Role = Member['role']

/** What an owner does with a member; undefined for others. */
type Actions = {
  readonly setRole: (member: Member, role: Role) => void
  readonly createLink: (member: Member) => void
  readonly remove: (member: Member) => void
}

const Row = ({ member, actions }: { member: Member; actions: Actions | undefined }) => {
  const { email, role, last_sign_in_at } = member
  return (
    <tr>
      <td class="main-cell">
        <span class="ellipsis" title={email}>
          {email}
        </span>
      </td>
      <td>
        {actions ? (
          <RoleSelect
            aria-label={texts.members.roleOf(email)}
            role={role}
            onChange={(next) => actions.setRole(member, next)}
          />
        ) : (
          texts.shell.roles[role]
        )}
      </td>
      <td class="wide number">
        <Time at={last_sign_in_at} />
      </td>
      {actions && (
        <td class="number">
          <div class="row end">
            <button
              type="button"
              class="button small"
              aria-label={`${texts.members.link} ${email}`}
              onClick={() => actions.createLink(member)}
            >
              {texts.members.link}
            </button>
            <button
              type="button"
              class="button small"
              aria-label={`${texts.members.remove} ${email}`}
              onClick={() => actions.remove(member)}
            >
              {texts.members.remove}
            </button>
          </div>
        </td>
      )}
    </tr>
  )
}

const Table = ({ members, actions }: { members: readonly Member[]; actions: Actions | undefined }) => (
  <table>
    <TableHead
      columns={[
        texts.members.email,
        texts.members.role,
        { title: texts.members.lastSignIn, layout: 'wide number' },
        actions !== undefined && { title: texts.common.actions, layout: 'number', isHidden: true },
      ]}
    />
    <tbody>
      {members.map((member) => (
        <Row key={member.id} member={member} actions={actions} />
      ))}
    </tbody>
  </table>
)

/** Changes of members, the errors of those without a dialog, and what is open in one. */
const useMembers = () => {
  const api = useApi()
  const client = useQueryClient()
  const [error, setError] = useState<Error>()
  const [link, setLink] = useState<{ email: string; url: string }>()
  const [removed, setRemoved] = useState<Member>()
  const reload = () => client.invalidateQueries({ queryKey: [path] })
  const attempt = async (work: () => Promise<unknown>) => {
    setError(undefined)
    try {
      await work()
    } catch (caught) {
      setError(caught as Error)
    }
    await reload()
  }
  const actions: Actions = {
    setRole: ({ id }, role) => void attempt(() => api(`${path}/${id}`, { method: 'PATCH', body: { role } })),
    createLink: ({ id, email }) =>
      void attempt(async () => {
        const { data } = await api<{ data: { url: string } }>(`${path}/${id}/sign-in-link`, { method: 'POST' })
        setLink({ email, url: data.url })
      }),
    remove: setRemoved,
  }
  const remove = async () => {
    await api(`${path}/${removed?.id}`, { method: 'DELETE' })
    setRemoved(undefined)
    await reload()
  }
  return { actions, error, link, setLink, removed, setRemoved, remove, reload }
}

/** The members of the account: an owner adds and removes them, and changes their roles. */
export const Members = () => {
  const { role } = useSession()
  const query = useQuery<{ data: readonly Member[] }>({ queryKey: [path] })
  const [isAdding, setIsAdding] = useState(false)
  const { actions, error, link, setLink, removed, setRemoved, remove, reload } = useMembers()
  const isOwner = role === 'owner'
  const add = (
    <button type="button" class="button" onClick={() => setIsAdding(true)}>
      {texts.members.add}
    </button>
  )
  const { linkTitle, linkText, empty, emptyText, removeTitle, removeText, remove: submit } = texts.members
  return (
    <Section title={texts.members.title} actions={isOwner && add}>
      {error && <ErrorNotice error={error} />}
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Notice title={empty}>{emptyText}</Notice>
          ) : (
            <Table members={data} actions={isOwner ? actions : undefined} />
          )
        }
      </Loaded>
      {isAdding && <AddMember path={path} onAdded={reload} onClose={() => setIsAdding(false)} />}
      {link && (
        <ShownOnce
          title={linkTitle}
          text={linkText(link.email)}
          label={linkTitle}
          secret={link.url}
          onClose={() => setLink(undefined)}
        />
      )}
      {removed && (
        <ConfirmDialog
          title={removeTitle(removed.email)}
          text={removeText}
          submit={submit}
          onSubmit={remove}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Section>
  )
}
