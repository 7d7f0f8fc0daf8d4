import { useQuery } from '@tanstack/preact-query'
import { Link } from 'wouter-preact'
import { Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { formatCount } from '#console/text/format.ts'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { operatorPath, type PausedHost } from './records.ts'

const words = texts.operator.health

const Table = ({ hosts }: { hosts: readonly PausedHost[] }) => (
  <table>
    <TableHead
      columns={[
        words.host,
        words.account,
        { title: words.unanswered, layout: 'wide number' },
        { title: words.pausedUntil, layout: 'number' },
      ]}
    />
    <tbody>
      {hosts.map(({ host, account_id: accountId, account_name: name, unanswered, paused_until: until }) => (
        <tr key={host + accountId}>
          <td class="main-cell">
            <code class="ellipsis">{host}</code>
          </td>
          <td>
            <Link href={`/accounts/${accountId}`}>{name}</Link>
          </td>
          <td class="wide number">{formatCount(unanswered)}</td>
          <td class="number">
            <Time at={until} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** Receivers of webhooks that are left alone for now, because they did not answer. */
export const PausedHosts = () => {
  const query = useQuery<{ data: readonly PausedHost[] }>({ queryKey: [`${operatorPath}/webhook-hosts`] })
  return (
    <Section title={words.hosts}>
      <Loaded query={query}>
        {({ data }) => (data.length === 0 ? <p class="muted">{words.noHosts}</p> : <Table hosts={data} />)}
      </Loaded>
    </Section>
  )
}
