import type { Account } from '#client/responses.js'
import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import type { ListedSession } from '#console/api/records.ts'
import { isOperator, useApi, useSession } from '#console/api/session.tsx'
import { FactList } from '#console/components/fact-list.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { ErrorNotice, Loaded } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { Time } from '#console/components/time.tsx'
import { formatCount, formatHours } from '#console/text/format.ts'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { Members } from './members.tsx'
import { Targets } from './targets.tsx'
import { UploadDestinations } from './upload-destinations.tsx'

const sessionsPath = '/console/api/sessions'

const bound = (value: number | null) => (value === null ? texts.settings.unlimited : formatCount(value))

const AccountFacts = ({ account: { name, email, plan } }: { account: Account }) => {
  const { role, email: person } = useSession()
  return (
    <FactList
      facts={[
        [texts.settings.name, name],
        [texts.settings.email, email],
        [texts.settings.signedInAs, person ?? texts.settings.byOperator],
        [texts.settings.role, texts.shell.roles[role]],
        [texts.settings.plan, plan.name],
        [texts.settings.quota, bound(plan.screenshots_per_month)],
        [texts.settings.rate, bound(plan.rate_limit_per_minute)],
        [texts.settings.retention, formatHours(plan.retention_hours)],
        [texts.settings.features, plan.features.join(', ')],
      ]}
    />
  )
}

const SessionRow = ({ session, onEnd }: { session: ListedSession; onEnd: () => void }) => {
  const { role, email, created_at, last_seen_at, address, user_agent, is_current } = session
  const own = useSession()
  const mayEnd = !is_current && (own.role === 'owner' || role !== 'owner')
  return (
    <tr>
      <td class="main-cell">
        <span class="ellipsis" title={user_agent}>
          {email ?? address} {is_current && <StatusBadge tone="good" label={texts.settings.current} />}
        </span>
        <span class="below ellipsis muted">
          {email !== null && `${address} · `}
          {user_agent}
        </span>
      </td>
      <td class="wide">{texts.shell.roles[role]}</td>
      <td class="wide number">
        <Time at={created_at} />
      </td>
      <td class="number">
        <Time at={last_seen_at} />
      </td>
      <td class="number">
        {mayEnd && (
          <button type="button" class="button small" aria-label={`${texts.settings.end} ${address}`} onClick={onEnd}>
            {texts.settings.end}
          </button>
        )}
      </td>
    </tr>
  )
}

const SessionTable = ({ sessions }: { sessions: readonly ListedSession[] }) => {
  const api = useApi()
  const client = useQueryClient()
  const [error, setError] = useState<Error>()
  const end = async (id: string) => {
    setError(undefined)
    try {
      await api(`${sessionsPath}/${id}`, { method: 'DELETE' })
      await client.invalidateQueries({ queryKey: [sessionsPath] })
    } catch (caught) {
      setError(caught as Error)
    }
  }
  return (
    <>
      {error && <ErrorNotice error={error} />}
      <table>
        <TableHead
          columns={[
            texts.settings.from,
            { title: texts.members.role, layout: 'wide' },
            { title: texts.settings.signedIn, layout: 'wide number' },
            { title: texts.settings.lastSeen, layout: 'number' },
            { title: texts.common.actions, layout: 'number', isHidden: true },
          ]}
        />
        <tbody>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} onEnd={() => void end(session.id)} />
          ))}
        </tbody>
      </table>
    </>
  )
}

/** The account, its sessions, targets, upload destinations and members. */
export const Settings = () => {
  const session = useSession()
  const account = useQuery<{ data: Account }>({ queryKey: ['/v1/account'], enabled: session.account !== null })
  const sessions = useQuery<{ data: readonly ListedSession[] }>({ queryKey: [sessionsPath] })
  return (
    <Page title={texts.pages.settings}>
      {session.account && (
        <Section title={texts.settings.account}>
          <Loaded query={account}>{({ data }) => <AccountFacts account={data} />}</Loaded>
        </Section>
      )}
      <Section title={texts.settings.sessions}>
        <Loaded query={sessions}>{({ data }) => <SessionTable sessions={data} />}</Loaded>
      </Section>
      {session.account && <Targets />}
      {session.account && <UploadDestinations />}
      {!isOperator(session) && <Members />}
    </Page>
  )
}
