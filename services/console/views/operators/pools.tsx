import { useQuery } from '@tanstack/preact-query'
import { Figures } from '#console/components/figures.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { formatCount, formatDuration, formatName } from '#console/text/format.ts'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { Decisions } from './decisions.tsx'
import { FindCapture } from './find-capture.tsx'
import { PauseButton, PauseState } from './pool-pause.tsx'
import { QueuedAccounts } from './queued-accounts.tsx'
import { type LaneState, operatorPath, type PoolState } from './records.ts'
import { useRefreshed } from './refreshed.ts'
import { Workers } from './workers.tsx'

const words = texts.operator.pools

const PoolFigures = ({ pool: { pending, processing, oldest_seconds: oldest, workers } }: { pool: PoolState }) => {
  const sum = (field: 'slots' | 'busy') => workers.reduce((total, worker) => total + worker[field], 0)
  const ready = workers.filter(({ state }) => state === 'ready').length
  const figures = [
    [words.waiting, formatCount(pending)],
    [words.running, formatCount(processing)],
    [words.oldest, pending === 0 ? texts.common.none : formatDuration(oldest * 1000)],
    [words.workersReady, words.of(ready, workers.length)],
    [words.slots, words.of(sum('busy'), sum('slots'))],
  ] as const
  return <Figures figures={figures} />
}

/** How long the oldest capture of a lane has waited, marked once that is more than its objective. */
const Oldest = ({ lane: { pending, oldest_seconds: oldest, objective_seconds: objective } }: { lane: LaneState }) => {
  if (pending === 0) return texts.common.none
  const waited = formatDuration(oldest * 1000)
  return objective !== null && oldest > objective ? <StatusBadge tone="bad" label={waited} /> : waited
}

const Lanes = ({ lanes }: Pick<PoolState, 'lanes'>) => (
  <table>
    <TableHead
      columns={[
        words.lane,
        { title: words.waiting, layout: 'number' },
        { title: words.running, layout: 'number' },
        { title: words.oldest, layout: 'number' },
        { title: words.objective, layout: 'wide number' },
      ]}
    />
    <tbody>
      {lanes.map((each) => (
        <tr key={each.lane}>
          <td>{words.lanes[each.lane] ?? each.lane}</td>
          <td class="number">{formatCount(each.pending)}</td>
          <td class="number">{formatCount(each.processing)}</td>
          <td class="number">
            <Oldest lane={each} />
          </td>
          <td class="wide number">
            {each.objective_seconds === null ? texts.common.none : formatDuration(each.objective_seconds * 1000)}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const Pool = ({ pool }: { pool: PoolState }) => (
  <Section title={formatName(pool.pool)} actions={<PauseButton pool={pool} />}>
    {pool.pause && <PauseState pause={pool.pause} />}
    <PoolFigures pool={pool} />
    <Lanes lanes={pool.lanes} />
    {pool.browser_pools.length === 0 && <p class="muted">{words.noDecision}</p>}
    {pool.browser_pools.map((each) => (
      <Decisions key={each.name} pool={each} />
    ))}
    <Workers workers={pool.workers} />
  </Section>
)

/** The pools: what waits, how their size was decided, and what each worker does. */
export const Pools = () => {
  const query = useQuery<{ data: readonly PoolState[] }>({ queryKey: [`${operatorPath}/pools`], ...useRefreshed() })
  return (
    <Page title={texts.operator.pages.pools}>
      <FindCapture />
      <Loaded query={query}>{({ data }) => data.map((pool) => <Pool key={pool.pool} pool={pool} />)}</Loaded>
      <QueuedAccounts />
    </Page>
  )
}
