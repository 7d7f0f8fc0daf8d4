import { useQuery } from '@tanstack/preact-query'
import { Page, Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { formatCount, formatDuration, formatName } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import { operatorPath, type PoolState } from './records.ts'
import { useRefreshed } from './refreshed.ts'

const words = texts.operator.pools

const Lanes = ({ lanes }: Pick<PoolState, 'lanes'>) => (
  <table>
    <thead>
      <tr>
        <th scope="col">{words.lane}</th>
        <th scope="col" class="number">
          {words.waiting}
        </th>
        <th scope="col" class="number">
          {words.running}
        </th>
      </tr>
    </thead>
    <tbody>
      {lanes.map(({ lane, pending, processing }) => (
        <tr key={lane}>
          <td>{words.lanes[lane] ?? lane}</td>
          <td class="number">{formatCount(pending)}</td>
          <td class="number">{formatCount(processing)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

const Pool = ({ pool }: { pool: PoolState }) => (
  <Section title={formatName(pool.pool)}>
    {pool.pending > 0 && (
      <p>
        {words.oldest} {formatDuration(pool.oldest_seconds * 1000)}
      </p>
    )}
    <Lanes lanes={pool.lanes} />
  </Section>
)

/** The pools of workers with their queues. */
export const Pools = () => {
  const query = useQuery<{ data: readonly PoolState[] }>({ queryKey: [`${operatorPath}/pools`], ...useRefreshed() })
  return (
    <Page title={texts.operator.pages.pools}>
      <Loaded query={query}>{({ data }) => data.map((pool) => <Pool key={pool.pool} pool={pool} />)}</Loaded>
    </Page>
  )
}
