import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useApi, useSession } from '#console/api/session.tsx'
import { ConfirmDialog } from '#console/components/dialog.tsx'
import { Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { formatCount } from '#console/text/format.ts'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { operatorPath, type QueuedAccount } from './records.ts'
import { useRefreshed } from './refreshed.ts'

const words = texts.operator.pools
const path = `${operatorPath}/queue`

type Props = { readonly accounts: readonly QueuedAccount[]; readonly onCancel: (account: QueuedAccount) => void }

const Table = ({ accounts, onCancel }: Props) => {
  const mayChange = useSession().role === 'operator'
  return (
    <table>
      <TableHead
        columns={[
          words.account,
          { title: words.waiting, layout: 'number' },
          { title: words.running, layout: 'number' },
          { title: texts.common.actions, layout: 'number', isHidden: true },
        ]}
      />
      <tbody>
        {accounts.map((account) => (
          <tr key={account.account_id}>
            <td class="main-cell">
              <Link class="ellipsis" href={`/accounts/${account.account_id}`}>
                {account.name}
              </Link>
            </td>
            <td class="number">{formatCount(account.pending)}</td>
            <td class="number">{formatCount(account.processing)}</td>
            <td class="number">
              {mayChange && account.pending > 0 && (
                <button
                  type="button"
                  class="button small"
                  aria-label={`${words.cancel} ${account.name}`}
                  onClick={() => onCancel(account)}
                >
                  {words.cancel}
                </button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The accounts with captures in the queue, the largest number first. */
export const QueuedAccounts = () => {
  const api = useApi()
  const client = useQueryClient()
  const [canceled, setCanceled] = useState<QueuedAccount>()
  const query = useQuery<{ data: readonly QueuedAccount[] }>({ queryKey: [path], ...useRefreshed() })
  const cancel = async () => {
    await api(`${operatorPath}/accounts/${canceled?.account_id}/queue/cancel`, { method: 'POST' })
    setCanceled(undefined)
    await client.invalidateQueries({ queryKey: [path] })
  }
  return (
    <Section title={words.queues}>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? <p class="muted">{words.emptyQueue}</p> : <Table accounts={data} onCancel={setCanceled} />
        }
      </Loaded>
      {canceled && (
        <ConfirmDialog
          title={words.cancelTitle(canceled.name)}
          text={words.cancelText}
          submit={words.cancel}
          onSubmit={cancel}
          onClose={() => setCanceled(undefined)}
        />
      )}
    </Section>
  )
}
