import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useParams } from 'wouter-preact'
import { servedPath } from '#console/api/base-path.ts'
import { useApi, useSession } from '#console/api/session.tsx'
import { FactList } from '#console/components/fact-list.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { ErrorNotice, Loaded } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { formatCount } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import { type AccountChange, AccountDialog } from './account-dialog.tsx'
import { AccountKeys } from './account-keys.tsx'
import { AccountState } from './account-state.tsx'
import { AuditTable } from './audit-table.tsx'
import { type AuditEntry, type OperatedAccount, operatorPath } from './records.ts'

const words = texts.operator.accounts
const changesShown = 20

/** Opens the account, which makes its pages those of the console. */
const LookInto = ({ id }: { id: string }) => {
  const api = useApi()
  const [error, setError] = useState<Error>()
  const open = async () => {
    try {
      await api(`${operatorPath}/accounts/${id}/view`, { method: 'POST' })
      // Leaving the page forgets what it has shown of another account.
      location.assign(servedPath('/console/'))
    } catch (caught) {
      setError(caught as Error)
    }
  }
  return (
    <>
      <button type="button" class="button primary" title={words.viewText} onClick={open}>
        {words.view}
      </button>
      {error && <ErrorNotice error={error} />}
    </>
  )
}

const Actions = ({ account, onChange }: { account: OperatedAccount; onChange: (change: AccountChange) => void }) => {
  const mayChange = useSession().role === 'operator'
  const isDisabled = account.disabled_at !== null
  const changes: readonly AccountChange[] = ['plan', isDisabled ? 'enable' : 'disable', 'erase']
  const labels = { plan: words.changePlan, enable: words.enable, disable: words.disable, erase: words.erase }
  return (
    <>
      {!isDisabled && <LookInto id={account.id} />}
      {mayChange &&
        account.erasing_at === null &&
        changes.map((change) => (
          <button
            key={change}
            type="button"
            class={change === 'erase' ? 'button danger' : 'button'}
            onClick={() => onChange(change)}
          >
            {labels[change]}
          </button>
        ))}
    </>
  )
}

const Facts = ({ account }: { account: OperatedAccount }) => (
  <FactList
    facts={[
      [words.state, <AccountState key="state" account={account} />],
      [words.id, <code key="id">{account.id}</code>],
      [words.email, account.email],
      [words.plan, account.plan],
      [words.used, words.usedOf(account.usage.screenshots_used, account.usage.screenshots_limit)],
      [texts.operator.pools.waiting, formatCount(account.queue.pending)],
      [texts.operator.pools.running, formatCount(account.queue.processing)],
      [words.created, <Time key="created" at={account.created_at} />],
    ]}
  />
)

const Changes = ({ path }: { path: string }) => {
  const query = useQuery<{ data: readonly AuditEntry[] }>({ queryKey: [path] })
  return <Loaded query={query}>{({ data }) => <AuditTable entries={data} />}</Loaded>
}

/** An account with its usage and keys, what was changed, and what an operator may change. */
export const Account = () => {
  const { id = '' } = useParams()
  const client = useQueryClient()
  const [change, setChange] = useState<AccountChange>()
  const path = `${operatorPath}/accounts/${encodeURIComponent(id)}`
  const changesPath = `${operatorPath}/audit?target=${encodeURIComponent(id)}&limit=${changesShown}`
  const query = useQuery<{ data: OperatedAccount }>({ queryKey: [path] })
  const account = query.data?.data
  const reload = () =>
    Promise.all(
      [path, changesPath, `${operatorPath}/accounts`].map((key) => client.invalidateQueries({ queryKey: [key] })),
    )
  return (
    <Page title={account?.name ?? words.name} actions={account && <Actions account={account} onChange={setChange} />}>
      <Loaded query={query} missing={words.missing}>
        {({ data }) => (
          <>
            <Facts account={data} />
            <Section title={words.keys}>
              <AccountKeys path={`${path}/keys`} />
            </Section>
            <Section title={words.changes}>
              <Changes path={changesPath} />
            </Section>
          </>
        )}
      </Loaded>
      {account && change && (
        <AccountDialog
          account={account}
          change={change}
          path={path}
          onChanged={reload}
          onClose={() => setChange(undefined)}
        />
      )}
    </Page>
  )
}
