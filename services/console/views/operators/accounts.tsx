import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { Field } from '#console/components/field.tsx'
import { LoadMore } from '#console/components/load-more.tsx'
import { Page } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { formatCount } from '#console/text/format.ts'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { AccountState } from './account-state.tsx'
import { useOperatorList } from './list-query.ts'
import type { OperatedAccount } from './records.ts'

const words = texts.operator.accounts

const Row = ({ account }: { account: OperatedAccount }) => {
  const { id, name, email, plan, created_at, usage, queue } = account
  return (
    <tr>
      <td class="main-cell">
        <Link class="ellipsis" href={`/accounts/${id}`}>
          {name}
        </Link>
        <span class="below ellipsis muted">{email}</span>
      </td>
      <td>{plan}</td>
      <td class="wide number">{words.usedOf(usage.screenshots_used, usage.screenshots_limit)}</td>
      <td class="wide number">{formatCount(queue.pending + queue.processing)}</td>
      <td>
        <AccountState account={account} />
      </td>
      <td class="wide number">
        <Time at={created_at} />
      </td>
    </tr>
  )
}

const Table = ({ accounts }: { accounts: readonly OperatedAccount[] }) => (
  <table>
    <TableHead
      columns={[
        words.name,
        words.plan,
        { title: words.used, layout: 'wide number' },
        { title: words.queue, layout: 'wide number' },
        words.state,
        { title: words.created, layout: 'wide number' },
      ]}
    />
    <tbody>
      {accounts.map((account) => (
        <Row key={account.id} account={account} />
      ))}
    </tbody>
  </table>
)

/** All accounts, the oldest first. */
export const Accounts = () => {
  const [search, setSearch] = useState('')
  const query = useOperatorList('accounts', { search })
  return (
    <Page title={texts.operator.pages.accounts}>
      <div class="filters">
        <Field label={words.search}>
          {(ids) => (
            <input {...ids} type="search" value={search} onChange={(event) => setSearch(event.currentTarget.value)} />
          )}
        </Field>
      </div>
      <Loaded query={query}>
        {({ pages }) => {
          const accounts = pages.flatMap(({ data }) => data)
          if (accounts.length === 0) return <Notice title={words.empty}>{words.emptyText}</Notice>
          return (
            <>
              <Table accounts={accounts} />
              <LoadMore query={query} />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
